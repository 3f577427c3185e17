#pragma once

#include <vector>

#include "moves/model/facts_state.h"
#include "moves/model/value_reader.h"
#include "moves/model/variable_values.h"

namespace warpath::model {

/// Where a walk through a kernel is: what holds there, and what variables are worth.
struct WalkPlace {
  explicit WalkPlace(KernelFacts& kernel)
      : facts(kernel),
        state(*kernel.state),
        unit(*kernel.unit),
        reader(kernel),
        variables(kernel) {}
  Guard& add_guard(const Expr& condition, bool negated, const Stmt& stmt);

  KernelFacts& facts;
  KernelFacts::State& state;
  const Unit& unit;
  ValueReader reader;
  VariableValues variables;
  std::vector<const Guard*> guards;
  std::vector<Loop*> loops;
};

}  // namespace warpath::model
