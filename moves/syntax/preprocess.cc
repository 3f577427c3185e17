#include <algorithm>

#include "engine/text/source_edit.h"
#include "moves/syntax/storage.h"

namespace warpath::model {
namespace {

constexpr int kMacroPasses = 3;  // macros that use later ones
constexpr int kWordsDepth = 100;

/// Recursive descent over a macro's or condition's words, in three values: known number or unknown.
class WordEvaluator {
 public:
  WordEvaluator(const std::vector<Word>& words,
                const std::function<NameValue(const std::string&)>& value_of,
                const std::function<std::optional<bool>(const std::string&)>& defined)
      : words_(words), value_of_(value_of), defined_(defined) {}

  std::optional<std::int64_t> run() {
    const auto value = conditional();
    return broken_ || at_ != words_.size() ? std::nullopt : value;
  }

 private:
  using Value = std::optional<std::int64_t>;
  [[nodiscard]] std::string_view text() const {
    return at_ < words_.size() ? std::string_view(words_[at_].text) : "";
  }

  Value fail() {
    broken_ = true;
    return std::nullopt;
  }

  Value conditional() {
    if (++depth_ > kWordsDepth) return fail();
    const Value condition = binary(1);
    --depth_;
    if (text() != "?") return condition;
    ++at_;
    const Value yes = conditional();
    if (text() != ":") return fail();
    ++at_;
    const Value no = conditional();
    if (!condition) return std::nullopt;
    return *condition != 0 ? yes : no;
  }

  Value binary(int least) {
    Value left = unary();
    while (!broken_) {
      const std::string op(text());
      const int strength = precedence(op);
      if (strength < least || strength == 0) break;
      ++at_;
      const Value right = binary(strength + 1);
      const bool both = op == "&&" || op == "and";
      const bool either = op == "||" || op == "or";
      if ((both || either) && (!left || !right)) {  // one side may decide alone
        const Value known = left ? left : right;
        const bool decides = known && (both ? *known == 0 : *known != 0);
        left = decides ? Value(either ? 1 : 0) : std::nullopt;
      } else {
        left = left && right ? apply_integer(op, *left, *right) : std::nullopt;
      }
    }
    return left;
  }

  Value unary() {
    if (++depth_ > kWordsDepth) return fail();
    const Value out = unary_here();
    --depth_;
    return out;
  }

  Value unary_here() {
    const std::string op(text());
    if (op == "-" || op == "+" || op == "!" || op == "~" || op == "not") {
      ++at_;
      const Value value = unary();
      if (!value) return value;
      if (op == "-") return apply_integer("-", 0, *value);
      if (op == "+") return value;
      return op == "~" ? ~*value : static_cast<std::int64_t>(*value == 0);
    }
    if (op == "(") return parenthesised();
    if (at_ >= words_.size()) return fail();
    const Word& word = words_[at_++];
    if (word.kind == TokenKind::number) {
      const auto value = integer_value(word.text);
      return value ? value : fail();
    }
    if (word.kind != TokenKind::identifier) return fail();
    if (word.text == "defined") return defined();
    if (word.text == "true") return 1;
    if (word.text == "false") return 0;
    if (text() == "(") {  // a function-like macro or __has_include: unknown
      skip_group();
      return std::nullopt;
    }
    const NameValue value = value_of_(word.text);
    if (value.kind == NameValue::Kind::unknown) return std::nullopt;
    return value.value;
  }

  /// ( expression ), or a cast to an integer type: (int)4.
  Value parenthesised() {
    ++at_;
    std::size_t behind = at_;
    while (behind < words_.size() &&
           (is_builtin_type_word(words_[behind].text) || is_library_type(words_[behind].text)))
      ++behind;
    if (behind > at_ && behind < words_.size() && words_[behind].text == ")") {
      const std::string_view type = words_[behind - 1].text;
      at_ = behind + 1;
      const Value value = unary();
      return type == "float" || type == "double" || type == "bool" ? std::nullopt : value;
    }
    const Value value = conditional();
    if (text() != ")") return fail();
    ++at_;
    return value;
  }

  Value defined() {
    const bool parens = text() == "(";
    if (parens) ++at_;
    if (at_ >= words_.size()) return fail();
    const auto value = defined_(words_[at_++].text);
    if (parens) {
      if (text() != ")") return fail();
      ++at_;
    }
    if (!value) return std::nullopt;
    return *value ? 1 : 0;
  }

  void skip_group() {
    int open = 0;
    do {
      if (text() == "(") ++open;
      if (text() == ")") --open;
      ++at_;
    } while (open > 0 && at_ < words_.size());
  }

  const std::vector<Word>& words_;
  const std::function<NameValue(const std::string&)>& value_of_;
  const std::function<std::optional<bool>(const std::string&)>& defined_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool broken_ = false;
};

constexpr std::string_view kArchitecture = "__CUDA_ARCH__";
constexpr std::int64_t kLeastArchitecture = 600, kMostArchitecture = 2000, kArchitectureStep = 10;
constexpr std::string_view kCompilerVersion = "__CUDACC_VER_MAJOR__";
constexpr std::int64_t kLeastCompiler = 12, kMostCompiler = 30;

/// Names that only compilers and platforms set which no kernel of NVIDIA's is built with here.
bool is_foreign(std::string_view name) {
  return name.starts_with("__HIP") || name == "__HCC__" || name == "_MSC_VER" || name == "_WIN32" ||
         name == "WIN32";
}

/// Names that the compiler, the platform or a build system sets: whether they are defined is not in
/// the text.
bool is_reserved(std::string_view name) {
  if (name.starts_with("__") ||
      (name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z'))
    return true;
  return name.starts_with("CUDA") || name == "NDEBUG";
}

class Preprocessor {
 public:
  explicit Preprocessor(Unit::Storage& storage) : s_(storage) {}

  void run() {
    const TokenStream stream = tokenize(s_.source);
    s_.ambiguous = stream.ambiguous;
    s_.lexemes.reserve(stream.tokens.size());
    std::size_t line_end = 0;  // end of the token before, to see line ends
    for (const Token& token : stream.tokens) {
      if (token.kind == TokenKind::comment) continue;
      if (token.kind == TokenKind::directive) {
        directive(token);
      } else if (active()) {
        const std::string_view between =
            std::string_view(s_.source).substr(line_end, token.begin - line_end);
        s_.lexemes.push_back({token.kind,
                              token.space_before && between.find('\n') != std::string_view::npos,
                              lexeme_text(token), token.begin, token.end, kNone});
      }
      line_end = token.end;
    }
    close_branch(s_.source.size());
    match_brackets();
    for (int pass = 0; pass < kMacroPasses; ++pass) {
      for (Macro& macro : s_.macros) {
        if (!macro.function_like && !macro.value) macro.value = macro_value(macro);
      }
    }
    std::set<std::string_view> seen;
    for (const Macro& macro : s_.macros) {
      const bool first = seen.insert(macro.name).second;
      const auto known = s_.constants.find(macro.name);
      const bool agrees = known != s_.constants.end() && macro.value == known->second;
      if (first && macro.value) s_.constants.emplace(macro.name, *macro.value);
      if (!first && !agrees && known != s_.constants.end()) s_.constants.erase(known);
    }
    for (const auto& [name, value] : s_.options.bindings)
      s_.constants.insert_or_assign(name, value);
  }

 private:
  struct Level {
    bool parent_active = true;
    bool taken = false;  // a branch was taken
    bool active = true;  // this branch is
    bool known = true;
  };

  [[nodiscard]] bool active() const { return levels_.empty() || levels_.back().active; }

  std::string_view lexeme_text(const Token& token) {
    const std::string_view bytes = std::string_view(s_.source).substr(token.begin, token.size());
    const bool digraph =
        token.kind == TokenKind::punctuator && bytes.size() > 1 &&
        (bytes.find(':') != std::string_view::npos || bytes.find('%') != std::string_view::npos);
    if (!token.spliced && !digraph) return bytes;
    return s_.keep(spelling(s_.source, token));
  }

  [[nodiscard]] std::vector<Word> words(const Token& directive, std::size_t skip) const {
    std::vector<Word> out;
    const auto inside = without_comments(tokenize_directive(s_.source, directive).tokens);
    for (std::size_t i = skip; i < inside.size(); ++i)
      out.push_back({inside[i].kind, spelling(s_.source, inside[i])});
    return out;
  }

  void directive(const Token& token) {
    const std::string name = directive_name(s_.source, token);
    const Span span{token.begin, token.end};
    if (name == "if" || name == "ifdef" || name == "ifndef") {
      open_level(name, token);
    } else if (name == "elif" || name == "elifdef" || name == "elifndef" || name == "else") {
      next_branch(name, token);
    } else if (name == "endif") {
      close_branch(token.begin);
      const bool unresolved = !levels_.empty() && !levels_.back().known;
      if (!levels_.empty()) levels_.pop_back();
      if (active()) note(span, name, unresolved);
    } else if (active()) {
      if (name == "define") define(token);
      if (name == "undef") undefine(token);
      note(span, name, false);
    }
  }

  void note(Span span, const std::string& name, bool unresolved) {
    s_.directives.push_back({s_.lexemes.size(), span, s_.keep(name), unresolved});
  }

  [[nodiscard]] std::optional<bool> condition(const std::string& name, const Token& token) const {
    const std::vector<Word> w = words(token, 2);
    if (name == "else") return true;
    if (name == "if" || name == "elif") return wherever_built(w);
    if (w.empty()) return std::nullopt;
    const auto known = defined(w[0].text);
    if (!known) return std::nullopt;
    return name.ends_with("ndef") ? !*known : *known;
  }

  /// What a condition is on every device that kernels are built for, by every compiler that builds
  /// them; nullopt if they differ.
  [[nodiscard]] std::optional<bool> wherever_built(const std::vector<Word>& w) const {
    const auto asks = [&](std::string_view name) {
      return std::ranges::any_of(w, [&](const Word& word) { return word.text == name; }) &&
             !s_.options.bindings.contains(std::string(name));
    };
    const std::int64_t last = asks(kArchitecture) ? kMostArchitecture : kLeastArchitecture,
                       newest = asks(kCompilerVersion) ? kMostCompiler : kLeastCompiler;
    std::optional<bool> found;
    for (std::int64_t architecture = kLeastArchitecture; architecture <= last;
         architecture += kArchitectureStep) {
      for (std::int64_t compiler = kLeastCompiler; compiler <= newest; ++compiler) {
        const auto value = evaluate_words(
            w,
            [&](const std::string& n) {
              const bool bound = s_.options.bindings.contains(n);
              if (n == kArchitecture && !bound)
                return NameValue{NameValue::Kind::number, architecture};
              return n == kCompilerVersion && !bound ? NameValue{NameValue::Kind::number, compiler}
                                                     : value_of(n);
            },
            [this](const std::string& n) { return defined(n); });
        if (!value || (found && *found != (*value != 0))) return std::nullopt;
        found = *value != 0;
      }
    }
    return found;
  }

  void open_level(const std::string& name, const Token& token) {
    Level level;
    level.parent_active = active();
    level.active = false;
    if (level.parent_active) {
      const auto value = condition(name, token);
      level.known = value.has_value();
      level.active = level.taken = value.value_or(true);
      note({token.begin, token.end}, name, !level.known);
    }
    levels_.push_back(level);
    open_branch(token);
  }

  void next_branch(const std::string& name, const Token& token) {
    close_branch(token.begin);
    if (levels_.empty()) return;
    Level& level = levels_.back();
    level.active = false;
    if (level.parent_active && !level.taken) {
      const auto value = condition(name, token);
      if (!value) level.known = false;
      level.active = level.taken = value.value_or(true);
    }
    if (level.parent_active) note({token.begin, token.end}, name, !level.known);
    open_branch(token);
  }

  void open_branch(const Token& token) {
    const Level& level = levels_.back();
    if (!level.parent_active) return;
    s_.conditionals.push_back(
        {{token.begin, token.end}, {token.end, token.end}, level.active, level.known});
    open_.push_back({levels_.size(), s_.conditionals.size() - 1});
  }

  void close_branch(std::size_t at) {
    if (open_.empty() || open_.back().first != levels_.size()) return;
    s_.conditionals[open_.back().second].branch.end =
        std::max(at, s_.conditionals[open_.back().second].branch.begin);
    open_.pop_back();
  }

  void define(const Token& token) {
    const auto inside = without_comments(tokenize_directive(s_.source, token).tokens);
    if (inside.size() < 3 || inside[2].kind != TokenKind::identifier) return;
    Macro macro;
    macro.name = s_.keep(spelling(s_.source, inside[2]));
    macro.span = {token.begin, token.end};
    std::size_t at = 3;
    if (at < inside.size() && spelling(s_.source, inside[at]) == "(" && !inside[at].space_before) {
      macro.function_like = true;
      for (++at; at < inside.size() && spelling(s_.source, inside[at]) != ")"; ++at) {
        const std::string parameter = spelling(s_.source, inside[at]);
        if (parameter != ",") macro.parameters.push_back(parameter);
      }
      at = std::min(at + 1, inside.size());
    }
    for (std::size_t i = at; i < inside.size(); ++i) {
      if (i > at && inside[i].space_before) macro.body += ' ';
      macro.body += spelling(s_.source, inside[i]);
    }
    if (!macro.function_like) macro.value = macro_value(macro);
    index_.insert_or_assign(std::string(macro.name), s_.macros.size());
    s_.macros.push_back(std::move(macro));
  }

  void undefine(const Token& token) {
    const std::vector<Word> w = words(token, 2);
    if (!w.empty()) index_.erase(w[0].text);
  }

  [[nodiscard]] std::optional<bool> defined(const std::string& name) const {
    if (index_.contains(name) || s_.options.bindings.contains(name) ||
        s_.options.defined.contains(name))
      return true;
    if (name == "__CUDACC__" || name == "__cplusplus" || name == kArchitecture ||
        name == kCompilerVersion)
      return true;
    if (is_foreign(name)) return false;
    return is_reserved(name) ? std::nullopt : std::optional(false);
  }

  [[nodiscard]] NameValue value_of(const std::string& name) const {
    if (const auto bound = s_.options.bindings.find(name); bound != s_.options.bindings.end()) {
      return {NameValue::Kind::number, bound->second};
    }
    if (const auto found = index_.find(name); found != index_.end()) {
      const Macro& macro = s_.macros[found->second];
      return macro.value ? NameValue{NameValue::Kind::number, *macro.value} : NameValue{};
    }
    if (is_foreign(name)) return {NameValue::Kind::undefined, 0};
    return is_reserved(name) || s_.options.defined.contains(name)
               ? NameValue{}
               : NameValue{NameValue::Kind::undefined, 0};
  }

  /// In a macro an undefined name is no 0: it may be a variable.
  [[nodiscard]] std::optional<std::int64_t> macro_value(const Macro& macro) const {
    if (macro.body.empty() || macro.body.size() > 400) return std::nullopt;
    std::vector<Word> w;
    for (const Token& token : tokenize(macro.body).tokens)
      w.push_back({token.kind, spelling(macro.body, token)});
    return evaluate_words(
        w,
        [this](const std::string& n) {
          const NameValue value = value_of(n);
          return value.kind == NameValue::Kind::number ? value : NameValue{};
        },
        [](const std::string&) { return std::optional<bool>(); });
  }

  void match_brackets() {
    std::vector<std::size_t> open;
    std::vector<Lexeme>& all = s_.lexemes;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].kind != TokenKind::punctuator || all[i].text.size() != 1) continue;
      const char c = all[i].text[0];
      if (c == '(' || c == '[' || c == '{') open.push_back(i);
      if (c != ')' && c != ']' && c != '}') continue;
      const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
      // A brace ends all that is open inside; a parenthesis never ends a brace.
      while (!open.empty() && all[open.back()].text[0] != wanted &&
             (c == '}' || all[open.back()].text[0] != '{'))
        open.pop_back();
      if (open.empty() || all[open.back()].text[0] != wanted) continue;
      all[i].match = open.back();
      all[open.back()].match = i;
      open.pop_back();
    }
  }

  Unit::Storage& s_;
  std::vector<Level> levels_;
  std::vector<std::pair<std::size_t, std::size_t>>
      open_;  // depth of levels_, index of the conditional
  std::map<std::string, std::size_t, std::less<>> index_;  // macros defined at this place
};

}  // namespace

std::optional<std::int64_t> evaluate_words(
    const std::vector<Word>& words,
    const std::function<NameValue(const std::string&)>& value_of,
    const std::function<std::optional<bool>(const std::string&)>& defined) {
  return WordEvaluator(words, value_of, defined).run();
}

void preprocess(Unit::Storage& storage) {
  Preprocessor(storage).run();
}

}  // namespace warpath::model
