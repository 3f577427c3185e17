#pragma once

#include <string>

namespace warpath {

/// printf to a string.
[[nodiscard, gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

/// "2026-01-31T12:00:00Z"; clamped to the years 1970 to 9999, so that any number has a text.
[[nodiscard]] std::string utc_text(double unix_seconds);

}  // namespace warpath
