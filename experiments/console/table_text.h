#pragma once

#include <string>
#include <vector>

namespace warpath {

/// Rows in columns as wide as their longest cell, separated by two blanks. All rows must have the
/// same number of cells.
[[nodiscard]] std::string aligned_text(const std::vector<std::vector<std::string>>& rows);

}  // namespace warpath
