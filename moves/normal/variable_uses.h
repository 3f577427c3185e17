#pragma once

#include <vector>

#include "moves/model/facts.h"

namespace warpath {

/// The names in the kernel's body that mean the variable, in order.
[[nodiscard]] std::vector<const model::Expr*> uses_of(const model::KernelFacts& facts,
                                                      const model::Declarator& variable);

/// Every line of the kernel's body is read: there is no directive in it but pragmas.
[[nodiscard]] bool is_read_whole(const model::KernelFacts& facts);

/// A type or an enumerator has its name in some block of the kernel alone.
[[nodiscard]] bool declares_types(const model::KernelFacts& facts);

/// Something says the variable's name where no use of it is seen (a macro, a lambda, a type), or
/// means the variable by another name (a reference), or means another by its name; or what stands
/// before a statement need not happen before it.
[[nodiscard]] bool is_out_of_sight(const model::KernelFacts& facts,
                                   const model::Declarator& variable);

/// Something may change the variable where the name stands, or let others do so.
[[nodiscard]] bool may_change(const model::Unit& unit, const model::Expr& use);

/// The use is what an assignment or a step sets.
[[nodiscard]] bool sets(const model::Expr& use);

/// Nothing but what sets the variable by its name changes it: its address is not kept, and it is
/// in sight. `uses`: uses_of() it.
[[nodiscard]] bool goes_by_its_name(const model::KernelFacts& facts,
                                    const model::Declarator& variable,
                                    const std::vector<const model::Expr*>& uses);

}  // namespace warpath
