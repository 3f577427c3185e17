#pragma once

#include <vector>

#include "moves/model/facts_state.h"

namespace warpath::model {

/// What the head of a counting loop says, in its own expressions.
struct LoopHeader {
  const Declarator* variable = nullptr;  ///< null: no counting loop
  const Expr* first = nullptr;           ///< null: starts from an earlier value
  const Expr* bound = nullptr;
  const Expr* step = nullptr;  ///< null: 1
  bool step_negative = false;
  bool descending = false;
  bool inclusive = false;
  bool unequal = false;  ///< i != n
  bool has_continue = false;
};

/// `writes`: those inside the loop, its init left out.
[[nodiscard]] LoopHeader read_header(const KernelFacts& facts,
                                     const Stmt& loop,
                                     const std::vector<const Write*>& writes);
/// The amount of `v += e`, `v = v + e`, `v -= e`; null for ++ and -- and what is no bump.
/// `negative`: it is taken away.
[[nodiscard]] const Expr* bump_of(const Write& write, bool& negative);
/// Nothing in it is changed by `writes`, and it calls nothing that may give another value.
[[nodiscard]] bool is_invariant(const KernelFacts& facts,
                                const Expr& expr,
                                const std::vector<const Write*>& writes);

}  // namespace warpath::model
