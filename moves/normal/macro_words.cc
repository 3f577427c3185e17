#include "moves/normal/macro_words.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "engine/text/tokens.h"

namespace warpath {

using namespace model;

namespace {

/// The text says the macro's name, in a comment or elsewhere, outside of its definition; or some
/// macro puts names together, which may be this one.
bool is_named(const Unit& unit, const Macro& macro) {
  const auto pastes = [](const Macro& one) { return one.body.find("##") != std::string::npos; };
  if (std::ranges::any_of(unit.macros(), pastes)) return true;
  const std::string_view text = unit.source();
  const auto is_part = [&](std::size_t i) {
    return i < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
  };
  for (std::size_t at = 0; (at = text.find(macro.name, at)) != std::string_view::npos; ++at) {
    const Span span{at, at + macro.name.size()};
    const bool word = !is_part(span.end) && (at == 0 || !is_part(at - 1));
    if (word && !macro.span.contains(span)) return true;
  }
  return false;
}

}  // namespace

bool says_word(std::string_view text, std::string_view word) {
  return std::ranges::any_of(tokenize(text).tokens,
                             [&](const Token& t) { return spelling(text, t) == word; });
}

bool is_said_by_macro(const Unit& unit, std::string_view word) {
  return std::ranges::any_of(unit.macros(), [&](const Macro& macro) {
    return says_word(macro.body, word) && is_named(unit, macro);
  });
}

}  // namespace warpath
