#include "moves/model/walk_place.h"

#include <utility>

namespace warpath::model {

Guard& WalkPlace::add_guard(const Expr& condition, bool negated, const Stmt& stmt) {
  auto guard = std::make_unique<Guard>();
  guard->condition = &condition;
  guard->negated = negated;
  guard->stmt = &stmt;
  guard->complete = reader.comparisons(condition, negated, guard->nonnegative);
  guards.push_back(guard.get());
  facts.guards.push_back(std::move(guard));
  return *facts.guards.back();
}

}  // namespace warpath::model
