#pragma once

#include "moves/model/facts.h"

namespace warpath {

/// The call that loads or stores by the element's address, `__ldcg(&x[i])` or `__stcs(&y[i], v)`;
/// null where the access is the element itself.
[[nodiscard]] const model::Expr* hinting_call(const model::Access& access);

/// The expression that a local variable can stand for: x[i], or the whole of `__ldcg(&x[i])`. Null
/// where memory itself is asked for: a hinted store, an atomic, any other use of the element's
/// address, an access inside a helper function.
[[nodiscard]] const model::Expr* replaceable(const model::Access& access);

}  // namespace warpath
