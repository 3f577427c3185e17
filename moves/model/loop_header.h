#pragma once

#include <vector>

#include "moves/model/facts_state.h"

namespace warpath::model {

/// The parts of a counting loop's head.
struct LoopHeader {
  const Declarator* variable = nullptr;  ///< null: not a counting loop
  const Expr* first = nullptr;           ///< null: starts from an earlier value
  const Expr* bound = nullptr;
  const Expr* step = nullptr;  ///< null: 1
  bool step_negative = false;
  bool descending = false;
  bool inclusive = false;
  bool unequal = false;  ///< i != n
  bool has_continue = false;
};

/// `writes`: those inside the loop, except its init.
[[nodiscard]] LoopHeader read_header(const KernelFacts& facts,
                                     const Stmt& loop,
                                     const std::vector<const Write*>& writes);
/// The amount of `v += e`, `v = v + e`, `v -= e`; null for ++ and -- and for other writes.
/// `negative`: it is subtracted.
[[nodiscard]] const Expr* bump_of(const Write& write, bool& negative);
/// True if `writes` change nothing in the expression, and it contains no call whose value may
/// change.
[[nodiscard]] bool is_invariant(const KernelFacts& facts,
                                const Expr& expr,
                                const std::vector<const Write*>& writes);

}  // namespace warpath::model
