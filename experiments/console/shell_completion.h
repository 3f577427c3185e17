#pragma once

#include <span>
#include <string>

#include "experiments/console/command.h"

namespace warpath {

/// Scripts that complete the command, its flags and the values of flags that take words; all else
/// completes to file names. For `source <(warpath completion bash)` and a file `_warpath` of zsh's
/// fpath.
[[nodiscard]] std::string bash_completion(std::span<const Command> commands);
[[nodiscard]] std::string zsh_completion(std::span<const Command> commands);

}  // namespace warpath
