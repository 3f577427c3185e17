#pragma once

namespace warpath {

/// Characters of identifiers and numbers, whatever the locale.
[[nodiscard]] constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
/// One that begins an identifier.
[[nodiscard]] constexpr bool is_word_start(char c) {
  return is_letter(c) || c == '_';
}
[[nodiscard]] constexpr bool is_word(char c) {
  return is_word_start(c) || is_digit(c);
}

}  // namespace warpath
