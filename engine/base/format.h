#pragma once

#include <string>

namespace warpath {

/// What printf writes for the pattern.
[[nodiscard, gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

/// "2026-01-31T12:00:00Z"; years 1970 to 9999, so that any number a file may hold has a text.
[[nodiscard]] std::string utc_text(double unix_seconds);

}  // namespace warpath
