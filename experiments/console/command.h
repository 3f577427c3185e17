#pragma once

#include <array>
#include <string>
#include <string_view>
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

/// All verbs, in the order of `warpath --help`. A file of experiments/commands registers one, or
/// two that share their options.
using CommandRegistry = std::vector<Command>;

inline constexpr std::string_view kProgramSummary =
    "Finds faster versions of a GPU kernel by Monte Carlo graph search.";
inline constexpr std::string_view kExitCodes =
    "0 improved or done, 2 no gain, 3 environment, infrastructure or interrupted, 64 bad usage or "
    "input.";

/// What a beginner does, in order.
struct BeginnersStep {
  std::string_view command, purpose;
};
inline constexpr std::array kBeginnersSteps{
    BeginnersStep{"warpath doctor", "what this machine offers"},
    BeginnersStep{"warpath init FILE.cu KERNEL", "writes KERNEL.json, the spec of your kernel"},
    BeginnersStep{"warpath validate KERNEL.json", "checks it"},
    BeginnersStep{"warpath run --input KERNEL.json", "searches; Ctrl-C and --resume as you like"},
    BeginnersStep{"warpath report out/kernels/KERNEL", "shows what was found, and why"},
};

/// `warpath run`, on which others are based (experiments/commands/run.cc).
[[nodiscard]] Command run_command();

}  // namespace warpath
