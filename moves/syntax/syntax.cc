#include "moves/syntax/syntax.h"

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

}  // namespace warpath::model
