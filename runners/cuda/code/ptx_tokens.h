#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace warpath::cuda {

/// A token of PTX. Words are names, numbers, registers ("%r1"), directives (".global") and dotted
/// opcodes ("ld.global.f32"); marks are single characters; strings keep their quotes.
struct PtxToken {
  enum class Kind : std::uint8_t { word, mark, string };
  Kind kind = Kind::mark;
  std::string_view text;
  [[nodiscard]] bool is(std::string_view what) const {
    return kind != Kind::string && text == what;
  }
};

/// Splits PTX into tokens, dropping comments. An unterminated comment or string ends at the end of
/// the text. Linear time.
[[nodiscard]] std::vector<PtxToken> tokenize_ptx(std::string_view text);
/// The words of an operand: %rd1 and 16 for "[%rd1+16]".
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view operand);

/// True for an operand in brackets.
[[nodiscard]] inline bool is_address(std::string_view operand) {
  return operand.starts_with('[');
}

[[nodiscard]] inline bool is_one_of(std::string_view text,
                                    std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace warpath::cuda
