#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpath::cuda {

/// Of one: shares are written in percent.
inline constexpr double kPercent = 0.01;

/// The fields of one line of Nsight Compute's CSV (RFC 4180 without line breaks in fields).
[[nodiscard]] std::vector<std::string> split_ncu_fields(std::string_view line);

/// Factor that turns a value in `unit` into base units: decimal prefixes of bytes, rates and Hz,
/// parts of a second to nanoseconds; 1 for others.
[[nodiscard]] double ncu_unit_scale(std::string_view unit);

/// A number as Nsight Compute prints it ("1,234.5"), or nullopt.
[[nodiscard]] std::optional<double> ncu_number(std::string_view text);

}  // namespace warpath::cuda
