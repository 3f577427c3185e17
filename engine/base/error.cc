#include "engine/base/error.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "engine/base/format.h"

namespace warpath {
namespace {

constexpr std::size_t kMaxQuoted = 120;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += "\\x" + hex_text({&c, 1});
    } else {
      out += c;
    }
  }
  return out;
}

std::string quoted(std::string_view text) {
  std::size_t length = std::min(text.size(), kMaxQuoted);
  // Never cut inside a UTF-8 sequence.
  while (length < text.size() && length > 0 &&
         (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80U)
    --length;
  return escaped(text.substr(0, length)) + (length < text.size() ? "..." : "");
}

/// As one line: breaks become spaces, other control characters are escaped.
std::string one_line(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return escaped(text);
}

}  // namespace

Error::Error(ErrorCode code, std::string message)
    : std::runtime_error(one_line(std::move(message))), code_(code) {}

Error bad_input(std::string_view place, std::string_view value, std::string_view expected) {
  std::string message = escaped(place);
  message += value.empty() ? ": " : ": got " + quoted(value) + ", ";
  message += "expected ";
  message += escaped(expected);
  return {ErrorCode::bad_input, message};
}

Error environment_error(std::string_view message) {
  return {ErrorCode::environment, std::string(message)};
}

std::string message_of(const std::exception& error) {
  if (dynamic_cast<const Error*>(&error) != nullptr) return error.what();
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
    return one_line(file->path1().string() + ": " + file->code().message());
  return one_line(std::string("unexpected: ") + error.what());
}

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace warpath
