#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/statistics.h"

namespace warpath {

/// printf to a string.
[[nodiscard, gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

/// At most `digits` significant digits, as printf's %g: "0.125", "1e+09".
[[nodiscard]] std::string number_text(double x, int digits = 6);
/// "4.4 %" of 0.044.
[[nodiscard]] std::string percent_text(double share, int decimals = 0);
/// A speed-up, or another ratio: "18.570x [18.500, 18.600]"; "18.570x" without an interval.
[[nodiscard]] std::string ratio_text(double ratio,
                                     const std::optional<Interval>& interval = std::nullopt);
/// The same; "-" unless it is positive.
[[nodiscard]] std::string known_ratio_text(double ratio);
/// "6.117 [6.111, 6.132]"
[[nodiscard]] std::string interval_text(double value, const Interval& interval, int decimals = 3);
/// A time in ms as a number: "0.4252"; at least four decimals and four significant digits.
[[nodiscard]] std::string ms_text(double ms);
/// The same with its interval: "6.1170 [6.1114, 6.1315]".
[[nodiscard]] std::string ms_text(double ms, const Interval& interval_ms);
/// "3 s", "2 min 5 s", "1 h 4 min"
[[nodiscard]] std::string duration_text(double seconds);
/// "2026-01-31T12:00:00Z"; clamped to the years 1970 to 9999, so that any number has a text.
[[nodiscard]] std::string utc_text(double unix_seconds);
/// Two digits a byte.
[[nodiscard]] std::string hex_text(std::string_view bytes);
/// Without blanks and line ends around it.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// One CSV field, quoted according to RFC 4180; line ends become blanks.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace warpath
