#include "engine/error.h"

#include <cstdio>
#include <cstdlib>

namespace warpath {
namespace {

constexpr std::size_t kMaxQuoted = 120;

std::string quoted(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMaxQuoted)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      char hex[8];
      std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned>(byte));
      out += hex;
    } else {
      out += c;
    }
  }
  if (text.size() > kMaxQuoted) out += "...";
  return out;
}

}  // namespace

Error bad_input(std::string_view place, std::string_view value, std::string_view expected) {
  std::string message = quoted(place);
  message += value.empty() ? ": " : ": got " + quoted(value) + ", ";
  message += "expected ";
  message += quoted(expected);
  return {ErrorCode::bad_input, message};
}

Error environment_error(std::string_view message) {
  return {ErrorCode::environment, std::string(message)};
}

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace warpath
