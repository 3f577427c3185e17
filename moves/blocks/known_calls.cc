#include "moves/blocks/known_calls.h"

#include <algorithm>
#include <string>

#include "engine/text/tokens.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {
namespace {

using model::Expr;
using model::ExprKind;
using model::Unit;

bool is_known_name(const Unit& unit, std::string_view name, int depth);

/// Names in the macro are its parameters, or functions that are known.
bool is_plain(const Unit& unit, const model::Macro& macro, int depth) {
  const TokenStream stream = tokenize(macro.body);
  return std::ranges::all_of(stream.tokens, [&](const Token& token) {
    if (token.kind != TokenKind::identifier) return true;
    const std::string word = spelling(macro.body, token);
    return std::ranges::find(macro.parameters, word) != macro.parameters.end() || word == "float" ||
           word == "int" || word == "INFINITY" ||
           (word != macro.name && is_known_name(unit, word, depth + 1));
  });
}

bool is_known_name(const Unit& unit, std::string_view name, int depth) {
  constexpr int kDeepest = 8;
  if (depth > kDeepest) return false;
  if (const model::Macro* const macro = unit.macro(name)) return is_plain(unit, *macro, depth);
  if (name == "__ldg" || name.starts_with("__ldc") || name.starts_with("__stc")) return true;
  if (!model::is_pure_function(unit, name)) return false;
  const model::Function* const f = unit.find_function(name);
  if (f == nullptr) return true;
  const Expr* const value = model::returned_expression(*f);
  bool known = value != nullptr;
  if (known) {
    model::walk(*value, [&](const Expr& e) {
      if (is_of_thread(e.name)) known = false;
      const std::string_view called = e.is(ExprKind::call) ? model::callee(e) : e.name;
      const bool asks = e.is(ExprKind::call) || unit.macro(called) != nullptr;
      if (asks && !called.empty() && !is_known_name(unit, called, depth + 1)) known = false;
      return known;
    });
  }
  return known;
}

}  // namespace

bool is_known(const Unit& unit, const Expr& e) {
  const bool macro = e.is(ExprKind::name) && model::declaration_of(unit, e) == nullptr &&
                     unit.macro(e.name) != nullptr;
  if (!e.is(ExprKind::call) && !macro) return true;
  return is_known_name(unit, e.is(ExprKind::call) ? model::callee(e) : e.name, 0);
}

bool is_of_thread(std::string_view name) {
  return name == "threadIdx" || name == "blockDim" || name == "gridDim" || name == "warpSize";
}

}  // namespace warpath
