#pragma once

#include <string>
#include <vector>

namespace warpath {

/// Rows in columns that are as wide as their longest cell, two blanks between them. Every row has
/// as many cells as the first.
[[nodiscard]] std::string aligned_text(const std::vector<std::vector<std::string>>& rows);

}  // namespace warpath
