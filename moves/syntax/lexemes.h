#pragma once

#include <cstddef>
#include <string_view>

#include "moves/syntax/storage.h"

namespace warpath::model {

/// The lexemes of a unit, up to a limit. A base of what reads them.
class Lexemes {
 protected:
  explicit Lexemes(Unit::Storage& storage) : s_(storage), limit_(storage.lexemes.size()) {}

  [[nodiscard]] const Lexeme& lex(std::size_t i) const { return i < limit_ ? s_.lexemes[i] : end_; }
  [[nodiscard]] bool is(std::size_t i, std::string_view text) const { return lex(i).text == text; }
  [[nodiscard]] bool is_word(std::size_t i) const { return lex(i).kind == TokenKind::identifier; }
  [[nodiscard]] Span span(std::size_t from, std::size_t end) const;  ///< of lexemes [from, end)
  [[nodiscard]] std::string_view joined(std::size_t from, std::size_t end);
  /// Index of the closing bracket within the limit; kNone otherwise.
  [[nodiscard]] std::size_t close_of(std::size_t open) const;

  /// Restricts all reading to lexemes before `limit`.
  class Limit {
   public:
    Limit(Lexemes& all, std::size_t limit) : all_(all), before_(all.limit_) { all.limit_ = limit; }
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;
    ~Limit() { all_.limit_ = before_; }

   private:
    Lexemes& all_;
    std::size_t before_;
  };
  Unit::Storage& s_;
  std::size_t limit_ = 0;
  Lexeme end_;
};

}  // namespace warpath::model
