#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpath::cuda {

/// Shares are given in percent.
inline constexpr double kPercent = 0.01;

/// Splits a line of Nsight Compute's CSV (RFC 4180 without line breaks in fields).
[[nodiscard]] std::vector<std::string> split_ncu_fields(std::string_view line);

/// Factor from `unit` to base units: decimal prefixes of bytes, rates and Hz; parts of a second to
/// nanoseconds; 1 for others.
[[nodiscard]] double ncu_unit_scale(std::string_view unit);

/// Parses a number as printed by Nsight Compute ("1,234.5").
[[nodiscard]] std::optional<double> ncu_number(std::string_view text);

}  // namespace warpath::cuda
