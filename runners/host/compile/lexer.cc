#include "runners/host/compile/lexer.h"

#include <algorithm>
#include <utility>

#include "engine/base/ascii.h"

namespace warpath::host {
namespace {

bool is_name(char c) {
  return is_word(c) || c == '$' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/// Joins spliced lines; each removed newline is given back at the end of the logical line, so that
/// later lines keep their number.
std::string splice(std::string_view source) {
  std::string out;
  std::size_t owed = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\\') {
      std::size_t j = i + 1;
      while (j < source.size() && is_blank(source[j])) ++j;
      if (j < source.size() && source[j] == '\n') {
        i = j;
        ++owed;
        continue;
      }
    }
    out += source[i];
    if (source[i] == '\n') {
      out.append(owed, '\n');
      owed = 0;
    }
  }
  return out;
}

/// Reads one pass over the spliced text into `clean` and token boundaries.
class Scanner {
 public:
  Scanner(const std::string& text, Lexed& out) : text_(text), out_(out) {}

  void run() {
    while (at_ < text_.size() && out_.problem.empty()) step();
    std::size_t begin = 0;
    int line = 1;
    for (const auto& [kind, end] : ends_) {
      out_.tokens.push_back({kind, std::string_view(out_.clean).substr(begin, end - begin), line});
      line +=
          static_cast<int>(std::count(out_.clean.begin() + static_cast<std::ptrdiff_t>(begin),
                                      out_.clean.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      begin = end;
    }
  }

 private:
  using Kind = Token::Kind;
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void emit(Kind kind, std::string_view text) {
    out_.clean += text;
    ends_.emplace_back(kind, out_.clean.size());
  }
  void take(Kind kind, std::size_t size) {
    emit(kind, std::string_view(text_).substr(at_, size));
    at_ += size;
  }

  void step() {
    const char c = peek();
    if (c == '\n') {
      take(Kind::newline, 1);
      for (; owed_ > 0; --owed_) emit(Kind::newline, "\n");
      return;
    }
    if (is_blank(c)) return take(Kind::space, 1);
    if (c == '/' && peek(1) == '/') {
      while (at_ < text_.size() && peek() != '\n') ++at_;
      return emit(Kind::space, " ");
    }
    if (c == '/' && peek(1) == '*') return comment();
    if (c == '"' || c == '\'') return quoted(c);
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (is_name(c)) return word();
    if (c == '%' && peek(1) == ':') return emit(Kind::punctuation, "#"), void(at_ += 2);
    if (c == '<' && peek(1) == ':') return emit(Kind::punctuation, "["), void(at_ += 2);
    if (c == ':' && peek(1) == '>') return emit(Kind::punctuation, "]"), void(at_ += 2);
    if (c == '<' && peek(1) == '%') return emit(Kind::punctuation, "{"), void(at_ += 2);
    if (c == '%' && peek(1) == '>') return emit(Kind::punctuation, "}"), void(at_ += 2);
    take(Kind::punctuation, 1);
  }

  void comment() {
    const std::size_t end = text_.find("*/", at_ + 2);
    if (end == std::string::npos) return void(out_.problem = "unterminated comment");
    // A comment is one blank even where it spans lines: a directive goes on behind it. Its newlines
    // are owed to the line's end.
    owed_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                 text_.begin() + static_cast<std::ptrdiff_t>(end),
                                                 '\n'));
    at_ = end + 2;
    emit(Kind::space, " ");
  }

  void quoted(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n')
      end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size() || text_[end] != quote)
      return void(out_.problem = "unterminated string or character");
    take(Kind::text, end + 1 - at_);
  }

  void number() {
    std::size_t size = 1;
    while (is_name(peek(size)) || peek(size) == '.' ||
           (peek(size) == '\'' && is_name(peek(size + 1))) ||
           ((peek(size) == '+' || peek(size) == '-') &&
            std::string_view("eEpP").find(peek(size - 1)) != std::string_view::npos)) {
      ++size;
    }
    take(Kind::number, size);
  }

  void word() {
    std::size_t size = 1;
    while (is_name(peek(size))) ++size;
    const std::string_view name = std::string_view(text_).substr(at_, size);
    if (peek(size) == '"' &&
        (name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R")) {
      return void(out_.problem = "raw string");  // their text is not spliced: no kernel needs one
    }
    take(Kind::identifier, size);
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::size_t owed_ = 0;
  Lexed& out_;
  std::vector<std::pair<Kind, std::size_t>> ends_;
};

}  // namespace

std::unique_ptr<const Lexed> lex(std::string_view source) {
  auto out = std::make_unique<Lexed>();
  const std::string text = splice(source);
  Scanner(text, *out).run();
  return out;
}

}  // namespace warpath::host
