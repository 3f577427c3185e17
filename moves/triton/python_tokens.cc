#include "moves/triton/python_tokens.h"

#include <algorithm>

#include "engine/base/ascii.h"
#include "engine/base/words.h"

namespace warpath::python {
namespace {

bool is_name_byte(char c) {
  return is_word(c) || static_cast<unsigned char>(c) >= 0x80;
}

/// Longest first.
constexpr WordList kOperators(
    "**= //= <<= >>= ... -> := == != <= >= += -= *= /= %= &= |= ^= @= ** // << >>");

class Tokenizer {
 public:
  Tokenizer(std::string_view source, std::vector<Token>& tokens, std::string& why)
      : source_(source), tokens_(tokens), why_(why) {}

  bool run() {
    while (at_ < source_.size()) {
      if (!step()) return false;
    }
    if (!open_.empty()) return refuse("a bracket is not closed");
    end_line();
    return true;
  }

 private:
  bool refuse(const char* why) {
    why_ = why;
    return false;
  }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  void add(TokenKind kind, std::size_t begin) { tokens_.push_back({kind, begin, at_}); }
  void end_line() {
    if (!tokens_.empty() && tokens_.back().kind != TokenKind::line_end)
      add(TokenKind::line_end, at_);
  }

  bool step() {
    const char c = peek();
    if (c == '\n') {
      if (open_.empty()) end_line();
      ++at_;
      return true;
    }
    if (c == ' ') return ++at_, true;
    if (c == '#') {
      at_ = std::min(source_.find('\n', at_), source_.size());
      return true;
    }
    if (c == '\\' && peek(1) == '\n') return at_ += 2, true;
    if (c == '"' || c == '\'') return string(at_);
    if (is_name_byte(c) && !is_digit(c)) return word();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    return op();
  }

  bool word() {
    const std::size_t begin = at_;
    while (is_name_byte(peek())) ++at_;
    if (peek() == '"' || peek() == '\'') {
      const std::string_view prefix = source_.substr(begin, at_ - begin);
      if (prefix.find_first_of("fFtT") != std::string_view::npos)
        return refuse("a string is formatted");
      if (prefix.size() <= 2 && prefix.find_first_not_of("rRbBuU") == std::string_view::npos)
        return string(begin);
    }
    add(TokenKind::name, begin);
    return true;
  }

  bool number() {
    const std::size_t begin = at_;
    while (is_name_byte(peek()) || peek() == '.' ||
           ((peek() == '+' || peek() == '-') &&
            (source_[at_ - 1] == 'e' || source_[at_ - 1] == 'E') &&
            !source_.substr(begin).starts_with("0x")))
      ++at_;
    add(TokenKind::number, begin);
    return true;
  }

  bool string(std::size_t begin) {
    const char quote = peek();
    const std::string three(3, quote);
    const bool is_long = source_.substr(at_).starts_with(three);
    at_ += is_long ? 3 : 1;
    while (at_ < source_.size()) {
      if (peek() == '\\') {
        at_ += 2;
      } else if (is_long ? source_.substr(at_).starts_with(three) : peek() == quote) {
        at_ += is_long ? 3 : 1;
        add(TokenKind::string, begin);
        return true;
      } else if (peek() == '\n' && !is_long) {
        break;
      } else {
        ++at_;
      }
    }
    return refuse("a string is not closed");
  }

  bool op() {
    const std::size_t begin = at_;
    const char c = peek();
    if (c == '\t' || c == '\r' || c == '\f' || c == '\v' || c == '\0')
      return refuse("it has tabs, carriage returns or form feeds");
    if (c == '(' || c == '[' || c == '{') open_ += c;
    if (c == ')' || c == ']' || c == '}') {
      const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open_.empty() || open_.back() != wanted) return refuse("brackets do not match");
      open_.pop_back();
    }
    for (const std::string_view one : kOperators) {
      if (!source_.substr(at_).starts_with(one)) continue;
      at_ += one.size();
      add(TokenKind::op, begin);
      return true;
    }
    if (std::string_view("()[]{}:,;.=<>+-*/%&|^~@").find(c) == std::string_view::npos)
      return refuse("it has a byte that begins no token");
    ++at_;
    add(TokenKind::op, begin);
    return true;
  }

  std::string_view source_;
  std::vector<Token>& tokens_;
  std::string& why_;
  std::size_t at_ = 0;
  std::string open_;  // brackets
};

}  // namespace

bool tokenize(std::string_view source, std::vector<Token>& tokens, std::string& why) {
  return Tokenizer(source, tokens, why).run();
}

}  // namespace warpath::python
