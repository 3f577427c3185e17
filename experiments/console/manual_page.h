#pragma once

#include <span>
#include <string>
#include <string_view>

#include "experiments/console/command.h"

namespace warpath {

/// The manual page warpath(1), for man(7): every command with its flags, the exit codes, and the
/// commands that a beginner needs. `revision` stands in its footer.
[[nodiscard]] std::string manual_page(std::span<const Command> commands, std::string_view revision);

}  // namespace warpath
