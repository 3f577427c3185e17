#pragma once

#include <string>
#include <vector>

#include "experiments/console/command_line.h"

namespace warpath {

/// Exit code of a command that ran and had a negative result.
inline constexpr int kNotAsExpected = 2;

/// The program's identity.
struct Program {
  std::string path;                ///< of this executable, for worker processes
  std::vector<std::string> words;  ///< the whole command line as given
};

/// One verb of the program: `warpath NAME ...`.
struct Command {
  std::string name;
  std::string usage = "";  ///< what follows the name: "FILE..."
  std::string help;        ///< one line
  std::vector<Flag> flags = {};
  std::size_t least_words = 0, most_words = 0;  ///< words that are not part of a flag
  /// Returns the exit code. Throws Error for bad input and environment trouble.
  int (*run)(const Arguments&, const Program&) = nullptr;
};

/// All verbs, in the order of `warpath --help`. One file each: experiments/commands/<name>.cc.
using CommandRegistry = std::vector<Command>;

/// `warpath run`, on which others are based (experiments/commands/run.cc).
[[nodiscard]] Command run_command();

}  // namespace warpath
