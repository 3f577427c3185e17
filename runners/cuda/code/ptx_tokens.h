#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace warpath::cuda {

/// A piece of PTX. Words hold names, numbers, registers ("%r1"), directives (".global") and dotted
/// opcodes
/// ("ld.global.f32"); marks are single characters; strings keep their quotes.
struct PtxToken {
  enum class Kind : std::uint8_t { word, mark, string };
  Kind kind = Kind::mark;
  std::string_view text;
  [[nodiscard]] bool is(std::string_view what) const {
    return kind != Kind::string && text == what;
  }
};

/// Comments are dropped. An unterminated comment or string ends at the end of the text. Linear
/// time.
[[nodiscard]] std::vector<PtxToken> tokenize_ptx(std::string_view text);

}  // namespace warpath::cuda
