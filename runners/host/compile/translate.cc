#include "runners/host/compile/translate.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "engine/base/ascii.h"
#include "runners/host/compile/language.h"
#include "runners/host/compile/lexer.h"

namespace warpath::host {
namespace {

/// "__aligned__" is "aligned".
std::string_view bare(std::string_view name) {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__")
             ? name.substr(2, name.size() - 4)
             : name;
}

template <class Range>
const Refusal* find(const Range& range, std::string_view name) {
  const auto it =
      std::find_if(range.begin(), range.end(), [&](const Refusal& r) { return r.name == name; });
  return it == range.end() ? nullptr : &*it;
}
template <class Range>
bool holds(const Range& range, std::string_view name) {
  return std::find(range.begin(), range.end(), name) != range.end();
}
bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> heads) {
  return std::any_of(heads.begin(), heads.end(),
                     [&](std::string_view head) { return name.starts_with(head); });
}

class Translator {
 public:
  Translator(std::string_view source, const MacroValues& macros)
      : lexed_(lex(source)), tokens_(lexed_->tokens), macros_(macros) {}

  Translation run() {
    if (!lexed_->problem.empty()) {
      return {Translation::End::refused, lexed_->problem, {}};
    }
    bool line_start = true;
    bool in_directive = false;
    while (at_ < tokens_.size() && !failed_) {
      const Token& token = tokens_[at_];
      if (line_start && is("#")) {
        directive();
        in_directive = true;
        continue;
      }
      if (token.kind == Token::Kind::newline)
        line_start = true;
      else if (token.kind != Token::Kind::space)
        line_start = false;
      check(at_);
      if (token.text == "extern" && dynamic_shared()) continue;
      if (token.text == "__shared__") shared_ = true;
      if (token.text == "alignas" && shared_ && align_shared()) continue;
      track_scope(token);
      out_.text += token.text;
      ++at_;
      const bool ends_directive = in_directive && token.kind == Token::Kind::newline;
      if (ends_directive || token.text == ";" || token.text == "{" || token.text == "}") {
        shared_ = in_directive = false;
        statement_ = out_.text.size();
      }
    }
    if (failed_) out_.text.clear();
    return std::move(out_);
  }

 private:
  using Kind = Token::Kind;

  [[nodiscard]] bool is(std::string_view text) const {
    return at_ < tokens_.size() && tokens_[at_].text == text;
  }
  [[nodiscard]] std::size_t skip_space(std::size_t i) const {
    while (i < tokens_.size() && tokens_[i].kind == Kind::space) ++i;
    return i;
  }
  /// The next token that is neither blank nor newline, or the end.
  [[nodiscard]] std::size_t next_solid(std::size_t i) const {
    do ++i;
    while (i < tokens_.size() &&
           (tokens_[i].kind == Kind::space || tokens_[i].kind == Kind::newline));
    return i;
  }
  [[nodiscard]] std::string_view text_at(std::size_t i) const {
    return i < tokens_.size() ? tokens_[i].text : std::string_view{};
  }
  void fail(Translation::End end, std::size_t token, const std::string& why) {
    if (failed_) return;
    failed_ = true;
    out_.end = end;
    out_.why = "line " + std::to_string(tokens_[token].line) + ": " + why;
  }

  void check(std::size_t i) {
    if (tokens_[i].kind == Kind::identifier) check_name(i);
    const std::size_t next = next_solid(i);
    if (tokens_[i].text == "[" && text_at(next) == "[") check_attributes(next, "[", "]");
    if (tokens_[i].text == "__attribute__" || tokens_[i].text == "__attribute") {
      const std::size_t inner = next_solid(next);
      if (text_at(next) != "(" || text_at(inner) != "(")
        return fail(Translation::End::refused, i, "an attribute without its two parentheses");
      check_attributes(inner, "(", ")");
    }
  }

  /// The names of a list that begins behind `open`, the inner of its two brackets.
  void check_attributes(std::size_t open, std::string_view opening, std::string_view closing) {
    int depth = 1;
    bool at_name = true;
    for (std::size_t i = next_solid(open); i < tokens_.size() && depth > 0; i = next_solid(i)) {
      const std::string_view text = tokens_[i].text;
      const std::string_view next = text_at(next_solid(i));
      if (text == "(" || text == opening) ++depth;
      if (text == ")" || text == closing) --depth;
      if (depth == 1 && text == ",") at_name = true;
      // a namespace, or `using` of one
      if (!at_name || tokens_[i].kind != Kind::identifier || next == ":") continue;
      if (text == "using") continue;
      at_name = false;
      if (!holds(kAttributes, bare(text)))
        return fail(Translation::End::refused, i,
                    "attribute '" + std::string(text.substr(0, 60)) + "' is not allowed");
    }
  }

  void check_name(std::size_t i) {
    const std::string_view name = tokens_[i].text;
    const std::string quoted = "'" + std::string(name.substr(0, 60)) + "'";
    if (const auto* r = find(kUnsupported, name)) {
      return fail(Translation::End::not_supported, i,
                  std::string(r->construct) + " (" + quoted + ") cannot run on the host");
    }
    if (text_at(next_solid(i)) == "(") {
      if (const auto* r = find(kUnsupportedCalls, name)) {
        return fail(Translation::End::not_supported, i,
                    std::string(r->construct) + " (" + quoted + ") cannot run on the host");
      }
    }
    if (holds(kRefusedNames, name) || holds(kRefusedBuiltins, name))
      return fail(Translation::End::refused, i, quoted + " is not allowed");
    if (starts_with_any(name, {"warpath_", "Warpath", "kWarpath", "WARPATH_"})) {
      return fail(Translation::End::refused, i, "the name " + quoted + " is reserved");
    }
    if (starts_with_any(name, {"__builtin_ia32_", "_mm_", "_mm256_", "_mm512_"})) {
      return fail(Translation::End::refused, i, quoted + " is no CUDA");
    }
    if (name == "_Pragma") check_pragma_operator(i);
  }

  void check_pragma_operator(std::size_t i) {
    const std::size_t open = next_solid(i), text = next_solid(open);
    const std::string_view operand = text_at(text);
    if (text_at(open) != "(" || !starts_with_any(operand, {"\"unroll", "\"nounroll", "\"nv_"})) {
      fail(Translation::End::refused, i, "_Pragma is allowed with \"unroll ...\" only");
    }
  }

  void directive() {
    const std::size_t hash = at_, name_at = skip_space(at_ + 1);
    std::size_t end = name_at;
    while (end < tokens_.size() && tokens_[end].kind != Kind::newline) ++end;
    const std::string_view name = name_at < end ? tokens_[name_at].text : std::string_view{};
    if (name == "include") {
      include(skip_space(name_at + 1), end);
    } else if (holds(kRefusedDirectives, name) ||
               (name_at < end && tokens_[name_at].kind == Kind::number)) {
      fail(Translation::End::refused, hash, "#" + std::string(name) + " is not allowed");
    } else if (name == "pragma") {
      pragma(skip_space(name_at + 1), end);
    } else {
      if (name == "define") remember_macro(skip_space(name_at + 1), end);
      for (std::size_t i = name_at; i < end && !failed_; ++i) check(i);
      for (std::size_t i = hash; i < end; ++i) out_.text += tokens_[i].text;
    }
    at_ = end;
  }

  void include(std::size_t begin, std::size_t end) {
    std::string operand;
    for (std::size_t i = begin; i < end; ++i) operand += tokens_[i].text;
    while (!operand.empty() && operand.back() == ' ') operand.pop_back();
    const bool angled = operand.size() > 2 && operand.front() == '<' && operand.back() == '>';
    const bool quoted = operand.size() > 2 && operand.front() == '"' && operand.back() == '"';
    const std::string header =
        angled || quoted ? operand.substr(1, operand.size() - 2) : std::string();
    if (header.empty())
      return fail(Translation::End::refused, begin < tokens_.size() ? begin : at_,
                  "#include of something that is not a plain header name");
    if (is_allowed_header(header)) return;
    const bool construct =
        starts_with_any(header, {"cooperative_groups", "cuda/", "cub/", "mma.h", "cuda_pipeline",
                                 "thrust/", "cuda_fp8", "cutlass/", "cute/"});
    fail(construct ? Translation::End::not_supported : Translation::End::refused, begin,
         "header '" + header.substr(0, 80) + "' is not among those a kernel may include");
  }

  /// `#define NAME 8`, for pragmas.
  void remember_macro(std::size_t begin, std::size_t end) {
    const std::size_t value = skip_space(begin + 1);
    if (value >= end || tokens_[value].kind != Kind::number || skip_space(value + 1) != end ||
        tokens_[value].text.size() > 4)
      return;
    std::int64_t number = 0;
    for (const char c : tokens_[value].text) {
      if (c < '0' || c > '9') return;
      number = number * 10 + (c - '0');
    }
    macros_[std::string(tokens_[begin].text)] = number;
  }

  /// Full unrolling is asked for where a count is missing or not a number known to the lexer.
  void pragma(std::size_t begin, std::size_t end) {
    if (text_at(begin) != "unroll" || begin >= end)
      return;  // no other pragma means anything on the host
    std::string count;
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (tokens_[i].kind == Kind::identifier) check_name(i);
      if (tokens_[i].kind != Kind::space && tokens_[i].text != "(" && tokens_[i].text != ")")
        count += tokens_[i].text;
    }
    const std::string_view loop = text_at(next_solid(end));
    if (loop != "for" && loop != "while" && loop != "do") return;
    const bool number =
        !count.empty() && count.size() <= 4 && std::all_of(count.begin(), count.end(), is_digit);
    if (count.empty())
      out_.text += "#pragma GCC unroll 32";
    else if (number)
      out_.text += "#pragma GCC unroll " + count;
    else if (const auto it = macros_.find(count);
             it != macros_.end() && it->second >= 0 && it->second < 10000) {
      out_.text += "#pragma GCC unroll " + std::to_string(it->second);
    }
  }

  void track_scope(const Token& token) {
    if (token.text == "{") scopes_.push_back(opens_namespace_);
    if (token.text == "}" && !scopes_.empty()) scopes_.pop_back();
    if (token.kind == Kind::identifier) {
      if (token.text == "namespace") opens_namespace_ = true;
      if (token.text == "extern") opens_namespace_ = text_at(next_solid(at_)).starts_with("\"");
    }
    if (token.text == ";" || token.text == "{" || token.text == "}" || token.text == ")")
      opens_namespace_ = false;
  }
  [[nodiscard]] bool at_namespace_scope() const {
    return std::all_of(scopes_.begin(), scopes_.end(), [](bool b) { return b; });
  }

  /// `__shared__ alignas(16) float tile[64];`: to CUDA __shared__ is an attribute, here it is a
  /// specifier, which alignas may not follow. So it goes to where the declaration begins. False: it
  /// belongs to a type.
  bool align_shared() {
    std::size_t before = at_;
    while (before > 0 &&
           (tokens_[before - 1].kind == Kind::space || tokens_[before - 1].kind == Kind::newline))
      --before;
    const std::string_view owner = before > 0 ? tokens_[before - 1].text : std::string_view{};
    if (owner == "struct" || owner == "class" || owner == "union" || owner == "enum") return false;
    const std::size_t close = skip_parentheses(at_);
    if (text_at(close) != ")") return false;
    std::string text, newlines;
    for (std::size_t i = at_; i <= close; ++i) {
      check(i);
      if (tokens_[i].kind == Kind::newline)
        newlines += '\n';
      else
        text += tokens_[i].text;
    }
    out_.text.insert(statement_, text + " ");
    out_.text += newlines;
    at_ = close + 1;
    return true;
  }

  /// `extern __shared__ T name[]...;` at `at_`: rewritten. False if it is some other declaration.
  bool dynamic_shared() {
    std::size_t end = at_;
    bool shared = false;
    while (end < tokens_.size() && tokens_[end].text != ";" && tokens_[end].text != "{") {
      shared |= tokens_[end].text == "__shared__";
      ++end;
    }
    if (!shared || text_at(end) != ";") return false;
    std::vector<std::string_view> words;
    std::string newlines;
    for (std::size_t i = at_; i < end; ++i) {
      if (tokens_[i].kind == Kind::newline) newlines += '\n';
      if (tokens_[i].kind == Kind::identifier && tokens_[i].text != "extern" &&
          tokens_[i].text != "__shared__")
        check_name(i);
      const auto text = tokens_[i].text;
      if (tokens_[i].kind == Kind::space || tokens_[i].kind == Kind::newline || text == "extern" ||
          text == "__shared__")
        continue;
      if (text == "__align__" || text == "alignas" || text == "__attribute__") {
        i = skip_parentheses(i);
        continue;
      }
      words.push_back(text);
    }
    const auto bracket = std::find(words.begin(), words.end(), "[");
    auto behind = bracket;  // the first extent, which means nothing: the launch sets the size
    for (int depth = 0; behind != words.end();) {
      depth += *behind == "[" ? 1 : *behind == "]" ? -1 : 0;
      ++behind;
      if (depth == 0) break;
    }
    if (bracket - words.begin() < 2 || *(behind - 1) != "]") {
      fail(Translation::End::not_supported, at_, "this form of 'extern __shared__'");
      return true;
    }
    std::string type, name(*(bracket - 1)), rest;
    for (auto it = words.begin(); it != bracket - 1; ++it) type += std::string(*it) + " ";
    for (auto it = behind; it != words.end(); ++it) rest += std::string(*it);
    const std::string pointer = rest.empty() ? type + "*" : type + "(*)" + rest;
    const std::string arena = "reinterpret_cast<" + pointer + ">(warpath_thread.dynamic_shared)";
    if (at_namespace_scope()) {
      out_.text += "\n#define " + name + " (" + arena + ")\n#line " +
                   std::to_string(tokens_[at_].line) + "\n" + newlines;
      at_ = end + 1;
    } else {
      out_.text +=
          (rest.empty() ? type + "* const " + name : type + "(* const " + name + ")" + rest) +
          " = " + arena + newlines;
      at_ = end;
    }
    return true;
  }
  [[nodiscard]] std::size_t skip_parentheses(std::size_t i) const {
    int depth = 0;
    for (++i; i < tokens_.size(); ++i) {
      if (tokens_[i].text == "(") ++depth;
      if (tokens_[i].text == ")" && --depth == 0) return i;
      if (depth == 0 && tokens_[i].kind != Kind::space && tokens_[i].kind != Kind::newline)
        return i - 1;
    }
    return i;
  }

  std::unique_ptr<const Lexed> lexed_;
  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
  bool failed_ = false, opens_namespace_ = false;
  bool shared_ = false;        // the statement at hand declares shared memory
  std::size_t statement_ = 0;  // where it begins in what was written
  std::vector<bool> scopes_;   // true: namespace or linkage block
  MacroValues macros_;
  Translation out_;
};

}  // namespace

bool is_allowed_header(std::string_view name) {
  return holds(kHeaders, name);
}

Translation translate(std::string_view source, const MacroValues& macros) {
  return Translator(source, macros).run();
}

}  // namespace warpath::host
