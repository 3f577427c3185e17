#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace warpath {

/// Rows in columns as wide as their longest cell, separated by two blanks; the columns in `right`
/// (0-based) are right-aligned. All rows must have the same number of cells.
[[nodiscard]] std::string aligned_text(const std::vector<std::vector<std::string>>& rows,
                                       const std::vector<std::size_t>& right = {});

}  // namespace warpath
