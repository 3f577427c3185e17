#include "engine/base/format.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <ctime>

#include "engine/base/error.h"

namespace warpath {

std::string format(const char* pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, pattern, arguments);
  va_end(arguments);
  WARPATH_CHECK(size >= 0);
  std::string out(static_cast<std::size_t>(size), '\0');
  std::vsnprintf(out.data(), out.size() + 1, pattern, again);
  va_end(again);
  return out;
}

std::string utc_text(double unix_seconds) {
  const auto whole = static_cast<std::time_t>(
      std::clamp(std::isnan(unix_seconds) ? 0 : unix_seconds, 0.0, 253402300799.0));
  std::tm parts{};
  ::gmtime_r(&whole, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace warpath
