#include "engine/text/local_names.h"
#include "engine/text/function_text.h"

#include <algorithm>
#include <map>

namespace warpath {
namespace {

constexpr int kMaxNesting = 256;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}
bool is_qualifier(std::string_view word) {
  return is_one_of(
      word, {"const", "constexpr", "volatile", "static", "register", "__shared__", "inline"});
}
bool is_builtin_type(std::string_view word) {
  return is_one_of(word, {"int", "float", "double", "char", "bool", "unsigned", "signed", "long",
                          "short", "void", "auto", "wchar_t", "char8_t", "char16_t", "char32_t"});
}
bool is_pointer_operator(std::string_view word) {
  return is_one_of(word,
                   {"*", "&", "&&", "const", "volatile", "__restrict__", "__restrict", "restrict"});
}

/// The declared name is token `name`; the name is visible in tokens [begin, end).
struct Declaration {
  std::size_t name = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Walks the statements of one function and notes declarations of variables whose form leaves no
/// doubt.
class DeclarationScan {
 public:
  DeclarationScan(const CodeText& code, const NameSet& macros) : code_(code), macros_(macros) {}

  /// False if the function holds what this scan does not understand.
  bool run(const FunctionText& function) {
    parameters(function);
    block(function.body);
    return ok_;
  }
  [[nodiscard]] const std::vector<Declaration>& found() const { return found_; }

 private:
  void parameters(const FunctionText& function) {
    const std::size_t close = code_.match[function.open];
    std::size_t begin = function.open + 1;
    for (std::size_t i = begin; i <= close; ++i) {
      if (i < close && code_.match[i] > i) {
        i = code_.match[i];
      } else if (i == close || code_.is(i, ",")) {
        declaration(begin, i, function.end, Place::parameter);
        begin = i + 1;
      }
    }
  }

  enum class Place { parameter, statement, condition, for_head };

  /// Tokens [at, limit) may start with a declaration of variables visible until `scope_end`.
  void declaration(std::size_t at, std::size_t limit, std::size_t scope_end, Place place) {
    if (!specifiers(at, limit)) return;
    bool angles = false;
    while (!angles) {
      while (at < limit && is_pointer_operator(code_.text[at])) ++at;
      if (at >= limit || !code_.is_name(at) || is_keyword(code_.text[at]) ||
          is_cuda_name(code_.text[at]))
        return;
      const std::size_t name = at++;
      while (at < limit && code_.is(at, "[")) at = code_.match[at] + 1;
      if (!declarator_ends(at, limit, place)) return;
      const bool range = code_.is(at, ":");
      found_.push_back({name, range ? limit : at, scope_end});
      declared_.emplace(code_.text[name]);
      if (range || place == Place::parameter) return;
      // Behind a "<" a comma may be one of template arguments.
      for (; at < limit && !code_.is(at, ",") && !code_.is(at, ";"); ++at) {
        angles = angles || code_.is(at, "<");
        if (code_.match[at] > at) at = code_.match[at];
      }
      if (at >= limit || !code_.is(at, ",")) return;
      ++at;
    }
  }

  [[nodiscard]] bool declarator_ends(std::size_t at, std::size_t limit, Place place) const {
    if (place == Place::parameter) return at >= limit || code_.is(at, "=");
    if (at >= limit) return false;
    if (code_.is(at, ":")) return place == Place::for_head;
    return code_.is(at, "=") || code_.is(at, ";") || code_.is(at, "{") ||
           (code_.is(at, ",") && place != Place::condition);
  }

  /// Moves `at` over decl-specifiers; false if they name no type.
  bool specifiers(std::size_t& at, std::size_t limit) const {
    bool typed = false;
    while (at < limit && code_.is_name(at)) {
      const std::string_view word = code_.text[at];
      if (is_qualifier(word)) {
        ++at;
      } else if (is_builtin_type(word)) {
        typed = true;
        ++at;
      } else if (is_one_of(word, {"alignas", "__align__"}) && code_.is(at + 1, "(")) {
        at = code_.match[at + 1] + 1;
      } else if (typed) {
        return true;
      } else if (!type_name(at, limit)) {
        return false;
      } else {
        typed = true;
      }
    }
    return typed;
  }

  /// Moves `at` over a, a::b, a<...>.
  bool type_name(std::size_t& at, std::size_t limit) const {
    while (true) {
      const std::string_view word = code_.text[at];
      if (is_keyword(word) || declared_.contains(word) || macros_.contains(word)) return false;
      ++at;
      if (at < limit && code_.is(at, "<") && !template_arguments(at, limit)) return false;
      if (at + 1 >= limit || !code_.is(at, "::")) return true;
      if (!code_.is_name(++at)) return false;
    }
  }

  bool template_arguments(std::size_t& at, std::size_t limit) const {
    for (int depth = 0; at < limit; ++at) {
      const std::string_view word = code_.text[at];
      const TokenKind kind = code_.tokens[at].kind;
      if (word == "<") {
        ++depth;
      } else if (word == ">" || word == ">>" || word == ">>>") {
        depth -= static_cast<int>(word.size());
        if (depth <= 0) return ++at, depth == 0;
      } else if (kind != TokenKind::identifier && kind != TokenKind::number &&
                 !is_one_of(word, {",", "::", "*", "&", "+", "-"})) {
        return false;
      }
    }
    return false;
  }

  void block(std::size_t open) {
    const std::size_t close = code_.match[open];
    for (std::size_t i = open + 1; i < close && ok_;)
      i = std::max(i + 1, statement(i, close, false));
  }

  /// Returns the token behind the statement at `at`. `limit`: the "}" of the enclosing block.
  /// `sub`: it is the body of a for, if, while or do, a scope of its own.
  std::size_t statement(std::size_t at, std::size_t limit, bool sub) {
    if (++depth_ > kMaxNesting) ok_ = false;
    const std::size_t end = ok_ ? statement_inside(skip_labels(at, limit), limit, sub) : limit;
    --depth_;
    return end;
  }

  [[nodiscard]] std::size_t skip_labels(std::size_t at, std::size_t limit) const {
    while (at < limit) {
      if (code_.tokens[at].kind == TokenKind::directive) {
        ++at;
      } else if (code_.is(at, "[") && code_.is(at + 1, "[")) {
        at = code_.match[at] + 1;
      } else if (code_.is(at, "case") || (code_.is_name(at) && code_.is(at + 1, ":"))) {
        int conditionals = 0;  // the ":" of ?: inside the label
        for (; at < limit && (conditionals > 0 || !code_.is(at, ":")); ++at) {
          if (code_.is(at, "?")) ++conditionals;
          if (code_.is(at, ":")) --conditionals;
          if (code_.match[at] > at) at = code_.match[at];
        }
        at = std::min(at + 1, limit);
      } else {
        break;
      }
    }
    return at;
  }

  std::size_t statement_inside(std::size_t at, std::size_t limit, bool sub) {
    if (at >= limit) return limit;
    if (code_.is(at, "{")) {
      block(at);
      return code_.match[at] + 1;
    }
    if (code_.is(at, "for") && code_.is(at + 1, "("))
      return controlled(at + 1, limit, Place::for_head);
    if (code_.is(at, "if") || code_.is(at, "while") || code_.is(at, "switch")) {
      const std::size_t open = code_.is(at + 1, "constexpr") ? at + 2 : at + 1;
      if (code_.is(open, "(")) return controlled(open, limit, Place::condition);
    }
    if (code_.is(at, "do")) return skip_to_semicolon(statement(at + 1, limit, true), limit);
    if (code_.is(at, "try") || code_.is(at, "catch")) ok_ = false;
    const std::size_t end = skip_to_semicolon(at, limit);
    declaration(at, end, sub ? end : limit, Place::statement);
    return end;
  }

  /// At the "(" of a for, if, while or switch. What its head declares lives until the end of the
  /// statement.
  std::size_t controlled(std::size_t open, std::size_t limit, Place place) {
    const std::size_t close = code_.match[open];
    const std::size_t first = found_.size();
    declaration(open + 1, close, 0, place);
    const std::size_t last = found_.size();
    std::size_t end = statement(close + 1, limit, true);
    if (place == Place::condition && code_.is(end, "else") && end < limit)
      end = statement(end + 1, limit, true);
    for (std::size_t i = first; i < last; ++i) found_[i].end = end;
    return end;
  }

  [[nodiscard]] std::size_t skip_to_semicolon(std::size_t at, std::size_t limit) const {
    for (; at < limit && !code_.is(at, ";"); ++at) {
      if (code_.match[at] > at) at = code_.match[at];
    }
    return std::min(at + 1, limit);
  }

  const CodeText& code_;
  const NameSet& macros_;
  NameSet declared_;
  std::vector<Declaration> found_;
  int depth_ = 0;
  bool ok_ = true;
};

/// What the names of one function are used for, beside being declared.
struct Uses {
  // may mean something else than a variable
  NameSet barred;
  // all occurrences, ascending
  std::map<std::string, std::vector<std::size_t>, std::less<>> tokens;
  bool understood = true;
};

bool barred_by_context(const CodeText& code, std::size_t at, std::size_t begin) {
  if (is_member(code, at)) return false;
  if (at > begin) {
    const std::string_view before = code.text[at - 1];
    if (is_one_of(before, {"::", ".*", "->*", "...", "struct", "class", "union", "enum", "typename",
                           "goto", "template", "namespace", "using", "operator"})) {
      return true;
    }
  }
  if (code.is(at + 1, "(") || code.is(at + 1, "::") || code.is_name(at + 1)) return true;
  const bool pointer = code.is(at + 1, "*") || code.is(at + 1, "&") || code.is(at + 1, "&&");
  return pointer && (code.is(at + 2, ")") || code.is(at + 2, ">") || code.is(at + 2, ","));
}

Uses collect_uses(const CodeText& code, const FunctionText& function) {
  Uses uses;
  // tokens before it lie in the braces of a local struct, class, union or enum
  std::size_t local_type_end = 0;
  for (std::size_t i = function.open; i < function.end; ++i) {
    const Token& token = code.tokens[i];
    if (token.kind == TokenKind::directive) {
      // Conditional compilation and definitions tear the structure that the scan relies on.
      if (directive_name(code.source, token) != "pragma") uses.understood = false;
    } else if (token.kind == TokenKind::other ||
               (token.kind == TokenKind::string && code.text[i].find("%[") != std::string::npos)) {
      uses.understood = false;  // or an asm operand by name
    } else if (token.kind == TokenKind::identifier) {
      if (is_one_of(code.text[i], {"struct", "class", "union", "enum"})) {
        std::size_t j = i + 1;
        while (j < function.end && !is_one_of(code.text[j], {"{", ";", ")", "(", ">", ",", "="}))
          ++j;
        if (code.is(j, "{")) local_type_end = std::max(local_type_end, code.match[j]);
      }
      if (!is_member(code, i)) uses.tokens[std::string(code.text[i])].push_back(i);
      if (i < local_type_end || barred_by_context(code, i, function.open))
        uses.barred.emplace(code.text[i]);
    }
  }
  return uses;
}

/// True if the first of `tokens` declares, and each declares or lies in the scope of one of
/// `declarations`.
bool all_in_scope(const std::vector<std::size_t>& tokens, std::vector<Declaration> declarations) {
  std::vector<std::size_t> declaring;
  for (const Declaration& d : declarations) declaring.push_back(d.name);
  std::sort(declaring.begin(), declaring.end());
  std::sort(declarations.begin(), declarations.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  if (tokens.front() != declaring.front()) return false;
  auto next = declarations.begin();
  std::size_t visible_until = 0;
  for (const std::size_t at : tokens) {
    for (; next != declarations.end() && next->begin <= at; ++next)
      visible_until = std::max(visible_until, next->end);
    if (at >= visible_until && !std::binary_search(declaring.begin(), declaring.end(), at))
      return false;
  }
  return true;
}

}  // namespace

NameSet local_names(const CodeText& code, const FunctionText& function, const SharedNames& shared) {
  const Uses uses = collect_uses(code, function);
  DeclarationScan scan(code, shared.macros);
  if (!uses.understood || !scan.run(function)) return {};
  std::map<std::string, std::vector<Declaration>, std::less<>> declarations;
  for (const Declaration& d : scan.found())
    declarations[std::string(code.text[d.name])].push_back(d);
  NameSet out;
  for (const auto& [name, places] : declarations) {
    if (shared.outside.contains(name) || uses.barred.contains(name) || is_keyword(name) ||
        is_cuda_name(name))
      continue;
    if (all_in_scope(uses.tokens.at(name), places)) out.insert(name);
  }
  return out;
}

}  // namespace warpath
