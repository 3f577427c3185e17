#pragma once

#include "moves/model/facts.h"

namespace warpath {

/// The call that accesses the element by its address, `__ldcg(&x[i])` or `__stcs(&y[i], v)`; null
/// for a direct access.
[[nodiscard]] const model::Expr* hinting_call(const model::Access& access);

/// The expression that a local variable can replace: x[i], or the whole of `__ldcg(&x[i])`. Null if
/// memory itself is needed: a hinted store, an atomic, any other use of the element's address, an
/// access inside a helper function.
[[nodiscard]] const model::Expr* replaceable(const model::Access& access);

}  // namespace warpath
