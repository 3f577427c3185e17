#include "engine/base/format.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <ctime>

#include "engine/base/error.h"

namespace warpath {
namespace {

int ms_decimals(double ms) {
  constexpr int kDigits = 4, kMost = 12;
  return ms > 0 && ms < 0.1
             ? std::min(kMost, kDigits - 1 - static_cast<int>(std::floor(std::log10(ms))))
             : kDigits;
}

}  // namespace

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

std::string number_text(double x, int digits) {
  return format("%.*g", digits, x);
}

std::string percent_text(double share, int decimals) {
  return format("%.*f %%", decimals, 100 * share);
}

std::string ratio_text(double ratio, const std::optional<Interval>& interval) {
  return format("%.3fx", ratio) +
         (interval ? format(" [%.3f, %.3f]", interval->low, interval->high) : "");
}

std::string known_ratio_text(double ratio) {
  return ratio > 0 ? ratio_text(ratio) : "-";
}

std::string interval_text(double value, const Interval& interval, int decimals) {
  return format("%.*f [%.*f, %.*f]", decimals, value, decimals, interval.low, decimals,
                interval.high);
}

std::string ms_text(double ms) {
  return format("%.*f", ms_decimals(ms), ms);
}

std::string ms_text(double ms, const Interval& interval_ms) {
  return interval_text(ms, interval_ms, ms_decimals(ms));
}

std::string duration_text(double seconds) {
  const auto s = static_cast<long long>(std::llround(std::max(0.0, seconds)));
  if (s < 60) return format("%lld s", s);
  if (s < 3600) return format("%lld min %lld s", s / 60, s % 60);
  return format("%lld h %lld min", s / 3600, s % 3600 / 60);
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

std::string hex_text(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += {kDigits[byte >> 4U], kDigits[byte & 15U]};
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string csv_field(std::string_view text) {
  std::string out(text);
  std::ranges::replace(out, '\n', ' ');
  std::ranges::replace(out, '\r', ' ');
  if (out.find_first_of(",\"") == std::string::npos) return out;
  std::string quoted_text = "\"";
  for (const char c : out) quoted_text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted_text + "\"";
}

}  // namespace warpath
