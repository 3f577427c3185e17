#pragma once

#include <vector>

#include "moves/model/facts.h"

namespace warpath {

/// The names in the kernel's body that mean the variable, in order.
[[nodiscard]] std::vector<const model::Expr*> uses_of(const model::KernelFacts& facts,
                                                      const model::Declarator& variable);

/// Something says the variable's name where no use of it is seen (a macro, a lambda, a type), or
/// what stands before a statement need not happen before it.
[[nodiscard]] bool is_out_of_sight(const model::KernelFacts& facts,
                                   const model::Declarator& variable);

/// Something may change the variable where the name stands, or let others do so.
[[nodiscard]] bool may_change(const model::Unit& unit, const model::Expr& use);

/// The use is what an assignment or a step sets.
[[nodiscard]] bool sets(const model::Expr& use);

}  // namespace warpath
