#include "moves/normal/expand_macro.h"

#include <algorithm>

#include "engine/text/function_text.h"
#include "moves/model/facts_state.h"
#include "moves/model/value_reader.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

/// One use: the name and its arguments in brackets.
struct MacroUse {
  const Macro* macro = nullptr;
  std::size_t name = 0;   ///< token
  std::size_t close = 0;  ///< token of its ")"
};

/// Parts that the tree does not cover: macros around statements, calls with effects, opaque text.
bool is_followed(const NormalSite& site,
                 Span name,
                 Span use,
                 const std::vector<const Expr*>& calls) {
  // a helper that is called in the arguments
  bool followed = std::ranges::none_of(calls, [&](const Expr* c) { return use.contains(c->span); });
  for (const Span opaque : site.kernel.opaque) followed = followed && !opaque.contains(name);
  walk(*site.kernel.body, [&](const Stmt& s) {
    if (s.is(StmtKind::macro) && s.header.contains(name)) followed = false;
    return followed && s.span.contains(name);
  });
  if (!followed) return false;
  walk_expressions(*site.kernel.body, [&](const Expr& e) {
    if (e.is(ExprKind::call) && e.arg(0).span == name)
      followed =
          (expansion_of(site.unit, e).has_value() || is_pure_function(site.unit, callee(e))) &&
          !site.accesses_in(e.span);
    return followed;
  });
  return followed;
}

/// Why the preprocessor's result cannot replace it; empty if it can.
std::string unwritable(const NormalSite& site, const Macro& macro, const CodeText& code) {
  const std::string name(macro.name);
  std::size_t definitions = 0;
  for (const Macro& other : site.unit.macros()) definitions += other.name == macro.name ? 1U : 0U;
  for (const Token& t : code.tokens) {
    if (t.kind == TokenKind::directive && directive_name(code.source, t) == "undef") {
      for (const Token& part : tokenize_directive(code.source, t).tokens) {
        if (spelling(code.source, part) == name) ++definitions;
      }
    }
  }
  if (definitions > 1) return name + " is defined more than once";
  if (site.unit.is_defined(name)) return name + " is also an option";
  const std::string_view whole = site.unit.text(macro.span);
  if (whole.find("...") != std::string_view::npos) return name + " takes any number of arguments";
  for (const Token& t : tokenize(macro.body).tokens) {
    const std::string word = spelling(macro.body, t);
    if (word == "#" || word == "##" || t.kind == TokenKind::directive)
      return name + " makes tokens of its arguments";
    if (word == name) return name + " says its own name";
  }
  return {};
}

/// The body of the macro with the arguments of the use, as the preprocessor writes it.
std::optional<std::string> expansion(const CodeText& code, const MacroUse& use) {
  std::vector<std::string> arguments;
  const std::size_t open = use.name + 1;
  std::size_t from = open + 1;
  for (std::size_t i = from; i <= use.close; ++i) {
    if (i < use.close && code.is(i, "(")) i = code.match[i];
    if (i < use.close && !code.is(i, ",")) continue;
    if (i < use.close || i > from || !arguments.empty()) {
      const bool empty = i == from;
      arguments.emplace_back(
          empty ? std::string_view()
                : code.source.substr(code.tokens[from].begin,
                                     code.tokens[i - 1].end - code.tokens[from].begin));
    }
    from = i + 1;
  }
  const Macro& macro = *use.macro;
  if (macro.parameters.size() == 1 && arguments.empty()) arguments.emplace_back();
  if (arguments.size() != macro.parameters.size()) return std::nullopt;
  for (const std::string& a : arguments) {
    const std::vector<Token> tokens = tokenize(a).tokens;
    const bool directive =
        std::ranges::any_of(tokens, [](const Token& t) { return t.kind == TokenKind::directive; });
    // a comment to the end of the line would take the rest of the text with it
    const bool comment = std::ranges::any_of(tokens, [&](const Token& t) {
      return t.kind == TokenKind::comment && std::string_view(a).substr(t.begin).starts_with("//");
    });
    if (directive || comment) return std::nullopt;
  }
  std::string out;
  std::size_t copied = 0;
  for (const Token& t : tokenize(macro.body).tokens) {
    const auto p = std::ranges::find(macro.parameters, spelling(macro.body, t));
    if (t.kind != TokenKind::identifier || p == macro.parameters.end()) continue;
    out += macro.body.substr(copied, t.begin - copied);
    out += arguments[static_cast<std::size_t>(p - macro.parameters.begin())];
    copied = t.end;
  }
  return out + macro.body.substr(copied);
}

}  // namespace

bool expand_macro(const NormalSite& site, std::vector<Edit>& edits, std::string& why) {
  const bool any =
      std::ranges::any_of(site.unit.macros(), [](const Macro& m) { return m.function_like; });
  if (!any) return false;
  const CodeText code(site.unit.source());
  const Span body = site.kernel.body->span;
  const std::vector<const Expr*> calls = helper_calls(site);
  for (std::size_t i = 0; i + 1 < code.tokens.size(); ++i) {
    const Span name{code.tokens[i].begin, code.tokens[i].end};
    if (!body.contains(name) || !code.is_name(i) || !code.is(i + 1, "(")) continue;
    const Macro* const macro = site.unit.macro(code.text[i]);
    const Span use{name.begin, code.tokens[code.match[i + 1]].end};
    if (macro == nullptr || !macro->function_like || macro->span.begin > name.begin ||
        is_followed(site, name, use, calls))
      continue;
    if (std::string reason = unwritable(site, *macro, code); !reason.empty()) {
      why = std::move(reason);
      continue;
    }
    const MacroUse whole{macro, i, code.match[i + 1]};
    const auto text = whole.close > i + 1 ? expansion(code, whole) : std::nullopt;
    if (!text) {
      why = "the arguments of " + std::string(code.text[i]) + " are not understood";
      continue;
    }
    edits.push_back({use.begin, use.end, *text});
    return true;
  }
  return false;
}

}  // namespace warpath
