#include "moves/syntax/syntax.h"

#include <array>

namespace warpath::model {

bool Declarator::is_constant() const {
  return has(kConstexpr) || (has(kConst) && pointer_depth == 0 && !reference) ||
         (pointer_depth > 0 && (pointer_qualifiers & kConst) != 0);
}

const Declarator* Function::parameter(std::string_view wanted) const {
  for (const Declarator* p : parameters) {
    if (p->name == wanted) return p;
  }
  return nullptr;
}

std::string_view name(ExprKind kind) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"number", "literal",     "name",  "unary",   "postfix",    "binary",
       "assign", "conditional", "call",  "launch",  "subscript",  "member",
       "cast",   "init_list",   "comma", "size_of", "designated", "new_object",
       "lambda", "statement",   "type",  "opaque"});
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name(StmtKind kind) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"block", "declaration", "expression", "if",        "for",   "range_for", "while",
       "do",    "switch",      "case",       "return",    "break", "continue",  "goto",
       "label", "empty",       "assembly",   "directive", "try",   "macro",     "opaque"});
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace warpath::model
