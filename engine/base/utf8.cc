#include "engine/base/utf8.h"

namespace warpath {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned b = byte(0);
  if (b < 0x80) return 1;
  if (b >= 0xC2 && b <= 0xDF) return tail(1) ? 2 : 0;
  if (b >= 0xE0 && b <= 0xEF) {
    const bool second = tail(1) && !(b == 0xE0 && byte(1) < 0xA0) && !(b == 0xED && byte(1) > 0x9F);
    return second && tail(2) ? 3 : 0;
  }
  if (b >= 0xF0 && b <= 0xF4) {
    const bool second = tail(1) && !(b == 0xF0 && byte(1) < 0x90) && !(b == 0xF4 && byte(1) > 0x8F);
    return second && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace warpath
