#include "moves/syntax/lexemes.h"

#include <algorithm>
#include <string>

namespace warpath::model {

Span Lexemes::span(std::size_t from, std::size_t end) const {
  const std::vector<Lexeme>& all = s_.lexemes;
  if (end <= from || from >= all.size()) {  // nothing: a place behind the lexeme before
    const std::size_t at = from == 0 || all.empty() ? 0 : all[std::min(from, all.size()) - 1].end;
    return {at, at};
  }
  return {all[from].begin, all[std::min(end, all.size()) - 1].end};
}

std::string_view Lexemes::joined(std::size_t from, std::size_t end) {
  if (end == from + 1) return lex(from).text;
  std::string text;
  for (std::size_t i = from; i < end; ++i) {
    const bool word = is_word(i) || lex(i).kind == TokenKind::number;
    if (word && i > from && (is_word(i - 1) || lex(i - 1).kind == TokenKind::number)) text += ' ';
    text += lex(i).text;
  }
  return s_.keep(text);
}

std::size_t Lexemes::close_of(std::size_t open) const {
  const std::size_t close = lex(open).match;
  return close != kNone && close > open && close < limit_ ? close : kNone;
}

}  // namespace warpath::model
