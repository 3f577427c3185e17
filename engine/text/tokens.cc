#include "engine/text/tokens.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/text/changed_text.h"

namespace warpath {
namespace {

// Longest first: the first match is the longest.
constexpr auto kPunctuators = std::to_array<std::string_view>(
    {"%:%:", "<<<", ">>>", "<<=", ">>=", "<=>", "...", "->*", "<<", ">>", "->", "++", "--",
     "&&",   "||",  "==",  "!=",  "<=",  ">=",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=",
     "^=",   "::",  "##",  ".*",  "<:",  ":>",  "<%",  "%>",  "%:", "[",  "]",  "{",  "}"});
constexpr auto kPrefixes =
    std::to_array<std::string_view>({"u8R", "uR", "UR", "LR", "R", "u8", "u", "U", "L"});
constexpr std::string_view kSingles = "()<>+-*/%&|^~!=?:;,.#";
constexpr std::string_view kAlone = "();,?~[]{}";  // begin no longer one

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_name_start(char c) {
  return is_word_start(c) || c == '$' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_name(char c) {
  return is_name_start(c) || is_digit(c);
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

/// Length of the line splice at `at` (backslash, line end), 0 if there is none.
std::size_t splice_length(std::string_view s, std::size_t at) {
  if (at + 1 < s.size() && s[at] == '\\') {
    if (s[at + 1] == '\n') return 2;
    if (s[at + 1] == '\r' && at + 2 < s.size() && s[at + 2] == '\n') return 3;
  }
  return 0;
}

/// The text after translation phase 2, with the way back. `offsets` is empty when nothing was
/// spliced.
struct Logical {
  std::string storage;
  std::string_view text;
  std::vector<std::size_t> offsets;  // of each logical byte, then of the end

  explicit Logical(std::string_view source) : text(source) {
    const bool any = source.find("\\\n") != std::string_view::npos ||
                     source.find("\\\r\n") != std::string_view::npos;
    if (!any) return;
    storage.reserve(source.size());
    offsets.reserve(source.size() + 1);
    for (std::size_t i = 0; i < source.size();) {
      if (const std::size_t skip = splice_length(source, i); skip > 0) {
        i += skip;
      } else {
        storage += source[i];
        offsets.push_back(i++);
      }
    }
    offsets.push_back(source.size());
    text = storage;
  }
  [[nodiscard]] std::size_t physical(std::size_t at) const {
    return offsets.empty() ? at : offsets[at];
  }
  /// Just behind the logical byte `at - 1`, before any splice that follows it.
  [[nodiscard]] std::size_t physical_end(std::size_t at) const {
    return at == 0 ? 0 : physical(at - 1) + 1;
  }
  [[nodiscard]] std::size_t logical(std::size_t at) const {
    if (offsets.empty()) return at;
    return static_cast<std::size_t>(std::lower_bound(offsets.begin(), offsets.end(), at) -
                                    offsets.begin());
  }
};

bool has_disputed_bytes(std::string_view s) {
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '\0') return true;
    if (s[i] == '\r' && (i + 1 == s.size() || s[i + 1] != '\n')) return true;
    if (s[i] == '?' && i + 2 < s.size() && s[i + 1] == '?' &&
        std::string_view("=/'()!<>-").find(s[i + 2]) != std::string_view::npos) {
      return true;
    }
    // A splice with blanks. Each backslash looks over one run of blanks, which holds no backslash:
    // linear.
    if (s[i] == '\\' && i + 1 < s.size() && is_blank(s[i + 1])) {
      std::size_t j = i + 1;
      while (j < s.size() && is_blank(s[j])) ++j;
      const bool crlf_splice = splice_length(s, i) == 3;
      if (!crlf_splice && (j == s.size() || s[j] == '\n')) return true;
    }
  }
  return !s.empty() && s.back() == '\\';
}

class Lexer {
 public:
  Lexer(std::string_view source, std::size_t base, bool in_directive)
      : source_(source),
        base_(base),
        in_directive_(in_directive),
        logical_(source),
        text_(logical_.text),
        space_(base > 0 && !in_directive) {}  // a line end

  TokenStream run() {
    out_.ambiguous = has_disputed_bytes(source_);
    // compilers skip it
    if (!in_directive_ && base_ == 0 && text_.starts_with(kByteOrderMark))
      at_ = kByteOrderMark.size();
    while (skip_blanks(), at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool starts_with(std::string_view s) const {
    return text_.substr(at_, s.size()) == s;
  }

  void skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') {
        line_start_ = true;
      } else if (!is_blank(text_[at_])) {
        return;
      }
      space_ = true;
    }
  }

  void emit(TokenKind kind, std::size_t begin) {
    const std::size_t from = logical_.physical(begin);
    const std::size_t to = raw_end_ != 0 ? raw_end_ : logical_.physical_end(at_);
    const bool spliced = raw_end_ == 0 && to - from != at_ - begin;
    out_.tokens.push_back({kind, space_, spliced, base_ + from, base_ + to});
    raw_end_ = 0;
    space_ = kind == TokenKind::comment;
    if (kind == TokenKind::comment) return;
    line_start_ = false;
    ++code_tokens_;
  }

  void step() {
    const std::size_t begin = at_;
    const char c = peek();
    if (c == '/' && (peek(1) == '/' || peek(1) == '*')) return comment(begin);
    if (!in_directive_ && line_start_ && (c == '#' || starts_with("%:"))) return directive(begin);
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number(begin);
    if (in_directive_ && c == '<' && after_include()) return header_name(begin);
    if (const std::size_t prefix = literal_prefix(); prefix != std::string_view::npos)
      return literal(begin, prefix);
    if (is_name_start(c) || (c == '\\' && (peek(1) == 'u' || peek(1) == 'U'))) return name(begin);
    return punctuator(begin);
  }

  void skip_comment() {
    if (peek(1) == '/') {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return;
    }
    const std::size_t end = text_.find("*/", at_ + 2);
    if (end == std::string_view::npos) out_.ambiguous = true;
    at_ = end == std::string_view::npos ? text_.size() : end + 2;
  }

  void comment(std::size_t begin) {
    skip_comment();
    emit(TokenKind::comment, begin);
  }

  /// To the end of the line; a block comment may carry it over line ends, quotes hide comment
  /// marks. A raw string is not looked for: compilers disagree on it here.
  void directive(std::size_t begin) {
    while (at_ < text_.size() && text_[at_] != '\n') {
      const char c = text_[at_];
      if (c == '/' && peek(1) == '*') {
        skip_comment();
      } else if (c == '/' && peek(1) == '/') {
        break;
      } else if (c == '"' || c == '\'') {
        if (c == '"' && at_ > begin && text_[at_ - 1] == 'R') out_.ambiguous = true;
        if (!quoted(c)) out_.ambiguous = true;
      } else if (is_digit(c)) {
        skip_number();  // its separators open no character
      } else {
        do ++at_;
        while (is_name(c) && at_ < text_.size() && is_name(text_[at_]));
      }
    }
    while (at_ > begin && is_blank(text_[at_ - 1])) --at_;
    emit(TokenKind::directive, begin);
  }

  /// pp-number of the standard: takes every letter, digit, point, digit separator and signed
  /// exponent.
  void skip_number() {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\'' && is_name(peek(1))) continue;
      const char before = text_[at_ - 1];
      const bool exponent = before == 'e' || before == 'E' || before == 'p' || before == 'P';
      if (!is_name(c) && c != '.' && !((c == '+' || c == '-') && exponent)) break;
    }
  }

  void number(std::size_t begin) {
    skip_number();
    emit(TokenKind::number, begin);
  }

  void name(std::size_t begin) {
    for (++at_; at_ < text_.size(); ++at_) {
      if (!is_name(text_[at_]) && !(text_[at_] == '\\' && (peek(1) == 'u' || peek(1) == 'U')))
        break;
    }
    emit(TokenKind::identifier, begin);
  }

  /// Length of the encoding prefix and `R` before a quote at `at_`; npos if no literal starts here.
  [[nodiscard]] std::size_t literal_prefix() const {
    const char first = peek();
    if (first == '"' || first == '\'') return 0;
    if (first != 'u' && first != 'U' && first != 'L' && first != 'R') return std::string_view::npos;
    for (const std::string_view prefix : kPrefixes) {
      if (!starts_with(prefix)) continue;
      const char quote = peek(prefix.size());
      const bool raw = prefix.ends_with('R');
      if (quote == '"' || (quote == '\'' && !raw)) return prefix.size();
    }
    return std::string_view::npos;
  }

  void literal(std::size_t begin, std::size_t prefix) {
    const char quote = peek(prefix);
    const bool raw = prefix > 0 && text_[at_ + prefix - 1] == 'R';
    at_ += prefix;
    if (!(raw && raw_string()) && !quoted(quote)) {
      out_.ambiguous = true;
      return emit(TokenKind::other, begin);
    }
    if (raw_end_ == 0) {  // the suffix of a raw string is a token of its own
      while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    }
    emit(quote == '"' ? TokenKind::string : TokenKind::character, begin);
  }

  /// At a quote. Stops behind the closing one, or before the line end (false).
  bool quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == quote) return ++at_, true;
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    }
    return false;
  }

  /// At the quote of R"delimiter(...)delimiter". Splices inside are text, hence the search in the
  /// source itself. False, at the quote, if the delimiter is ill-formed.
  bool raw_string() {
    const std::size_t open = text_.substr(at_, 18).find('(');
    if (open == std::string_view::npos) return false;
    const std::string_view delimiter = text_.substr(at_ + 1, open - 1);
    if (delimiter.find_first_of(" )\\\t\v\f\n\r\"") != std::string_view::npos) return false;
    const std::string closing = ")" + std::string(delimiter) + "\"";
    const std::size_t end = source_.find(closing, logical_.physical(at_ + open));
    if (end == std::string_view::npos) out_.ambiguous = true;
    raw_end_ = end == std::string_view::npos ? source_.size() : end + closing.size();
    at_ = logical_.logical(raw_end_);
    return true;
  }

  /// The directive so far is `# include`.
  [[nodiscard]] bool after_include() const {
    if (code_tokens_ != 2) return false;
    // a comment between them: compilers disagree, and no one writes it
    const Token& last = out_.tokens.back();
    const std::string_view word = source_.substr(last.begin - base_, last.size());
    return word == "include" || word == "include_next";
  }

  void header_name(std::size_t begin) {
    const std::size_t end = text_.find('>', at_);
    if (end == std::string_view::npos) return punctuator(begin);
    at_ = end + 1;
    emit(TokenKind::string, begin);
  }

  void punctuator(std::size_t begin) {
    // [lex.pptoken] 3.2: <:: is < :: unless : or > follows.
    if (starts_with("<::") && peek(3) != ':' && peek(3) != '>') {
      ++at_;
      return emit(TokenKind::punctuator, begin);
    }
    const char first = peek();
    if (kAlone.find(first) != std::string_view::npos) {
      ++at_;
      return emit(TokenKind::punctuator, begin);
    }
    for (const std::string_view p : kPunctuators) {
      if (p[0] == first && starts_with(p)) {
        at_ += p.size();
        return emit(TokenKind::punctuator, begin);
      }
    }
    const bool known = kSingles.find(peek()) != std::string_view::npos;
    ++at_;
    emit(known ? TokenKind::punctuator : TokenKind::other, begin);
  }

  std::string_view source_;
  std::size_t base_;
  bool in_directive_;
  Logical logical_;
  std::string_view text_;
  std::size_t at_ = 0;  // in text_
  std::size_t code_tokens_ = 0;
  std::size_t raw_end_ = 0;  // in source_, behind the raw string being emitted
  bool line_start_ = true;
  bool space_;
  TokenStream out_;
};

/// The tokens of `source`, from those of a text that differs from it in one place: only the lines
/// between what both begin with and what both end with are read. nullopt if a token may extend over
/// these lines.
std::optional<TokenStream> read_again(std::string_view before,
                                      const TokenStream& known,
                                      std::string_view source,
                                      const CommonEnds& same) {
  if (known.ambiguous) return std::nullopt;
  const ChangedLines lines = lines_around(before, known.tokens, source, same);
  TokenStream middle =
      Lexer(source.substr(lines.begin, lines.end - lines.begin), lines.begin, false).run();
  if (middle.ambiguous) return std::nullopt;
  const auto first = known.tokens.begin() + static_cast<std::ptrdiff_t>(lines.first);
  const auto rest = known.tokens.begin() + static_cast<std::ptrdiff_t>(lines.rest);
  TokenStream out;
  out.tokens.reserve(known.tokens.size() - (lines.rest - lines.first) + middle.tokens.size());
  out.tokens.assign(known.tokens.begin(), first);
  out.tokens.insert(out.tokens.end(), middle.tokens.begin(), middle.tokens.end());
  for (auto it = rest; it != known.tokens.end(); ++it) {
    Token& token = out.tokens.emplace_back(*it);
    token.begin = token.begin - lines.old_end + lines.end;
    token.end = token.end - lines.old_end + lines.end;
  }
  return out;
}

std::string_view primary(std::string_view digraph) {
  if (digraph == "<:") return "[";
  if (digraph == ":>") return "]";
  if (digraph == "<%") return "{";
  if (digraph == "%>") return "}";
  if (digraph == "%:") return "#";
  if (digraph == "%:%:") return "##";
  return digraph;
}

}  // namespace

TokenStream tokenize(std::string_view source) {
  // a variant's text is asked for by its key, its model and every edit of it
  struct Known {
    std::string source;
    TokenStream stream;
  };
  constexpr std::size_t kLong = 2048, kMost = 4;
  if (source.size() < kLong) return Lexer(source, 0, false).run();
  static thread_local std::vector<Known> known;  // latest last
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const Known& one) { return one.source == source; });
  if (found != known.end()) {
    std::rotate(found, found + 1, known.end());
  } else {
    // most texts are a variant of one of the latest
    std::optional<TokenStream> stream;
    CommonEnds most;
    const Known* nearest = nullptr;
    for (const Known& one : known) {
      const CommonEnds same = common_ends(one.source, source);
      if (nearest == nullptr || same.before + same.behind >= most.before + most.behind)
        nearest = &one, most = same;
    }
    if (nearest != nullptr) stream = read_again(nearest->source, nearest->stream, source, most);
    if (!stream) stream = Lexer(source, 0, false).run();
    if (known.size() == kMost) known.erase(known.begin());
    known.push_back({std::string(source), std::move(*stream)});
  }
  return known.back().stream;
}

TokenStream tokenize_directive(std::string_view source, const Token& directive) {
  return Lexer(source.substr(directive.begin, directive.size()), directive.begin, true).run();
}

std::string spelling(std::string_view source, const Token& token) {
  const std::string_view bytes = source.substr(token.begin, token.size());
  std::string out;
  if (token.spliced) {
    for (std::size_t i = 0; i < bytes.size();) {
      if (const std::size_t skip = splice_length(bytes, i); skip > 0) {
        i += skip;
      } else {
        out += bytes[i++];
      }
    }
  } else {
    out = bytes;
  }
  return token.kind == TokenKind::punctuator ? std::string(primary(out)) : out;
}

bool is_spelled_as_written(std::string_view source, const Token& token) {
  const char first = source[token.begin];
  const bool digraph =
      token.kind == TokenKind::punctuator && (first == '<' || first == ':' || first == '%');
  return !token.spliced && !(digraph && token.size() > 1);
}

std::vector<Token> without_comments(const std::vector<Token>& tokens) {
  std::vector<Token> out;
  out.reserve(tokens.size());
  std::copy_if(tokens.begin(), tokens.end(), std::back_inserter(out),
               [](const Token& t) { return t.kind != TokenKind::comment; });
  return out;
}

std::string directive_name(std::string_view source, const Token& directive) {
  const std::string_view text = source.substr(directive.begin, directive.size());
  if (text.starts_with('#')) {
    const auto ends = [](char c) { return !is_name(c); };
    const std::size_t begin = std::min(text.find_first_not_of(" \t", 1), text.size());
    const auto word = text.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto end = std::find_if(word, text.end(), ends);
    const bool plain = word != end && is_name_start(*word);
    if (plain && (end == text.end() || *end == ' ')) return {word, end};
  }
  const std::vector<Token> inside = without_comments(tokenize_directive(source, directive).tokens);
  return inside.size() > 1 && inside[1].kind == TokenKind::identifier ? spelling(source, inside[1])
                                                                      : std::string();
}

}  // namespace warpath
