#pragma once

#include <string>
#include <vector>

#include "experiments/console/command_line.h"

namespace warpath {

/// What the program knows of itself.
struct Program {
  std::string path;                ///< of this executable, for worker processes
  std::vector<std::string> words;  ///< the whole command line as it was given
};

/// One verb of the program: `warpath NAME ...`.
struct Command {
  std::string name;
  std::string usage = "";  ///< what follows the name: "FILE..."
  std::string help;        ///< one line
  std::vector<Flag> flags = {};
  std::size_t least_words = 0, most_words = 0;  ///< words that belong to no flag
  /// Returns the exit code. Throws Error for bad input and environment trouble.
  int (*run)(const Arguments&, const Program&) = nullptr;
};

// One file each: experiments/command_<name>.cc.
[[nodiscard]] Command run_command();
[[nodiscard]] Command ablate_command();
[[nodiscard]] Command sweep_command();
[[nodiscard]] Command record_command();
[[nodiscard]] Command train_command();
[[nodiscard]] Command tactics_command();
[[nodiscard]] Command validate_command();
[[nodiscard]] Command evaluate_command();
[[nodiscard]] Command apply_command();
[[nodiscard]] Command attribute_command();
[[nodiscard]] Command report_command();
[[nodiscard]] Command inspect_command();
[[nodiscard]] Command prompt_command();
[[nodiscard]] Command ask_command();
[[nodiscard]] Command tell_command();
[[nodiscard]] Command mcp_command();
[[nodiscard]] Command options_command();
[[nodiscard]] Command moves_command();
[[nodiscard]] Command priors_command();
[[nodiscard]] Command doctor_command();
[[nodiscard]] Command bundle_command();
[[nodiscard]] Command worker_command();

}  // namespace warpath
