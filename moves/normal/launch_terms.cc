#include "moves/normal/launch_terms.h"

#include <string>

#include "moves/edit/span_rewrite.h"
#include "moves/model/facts_state.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

/// Indices that are 0 in every thread, whatever the tunables say.
Bindings zeros_of(const KernelFacts& facts) {
  Bindings out;
  const FactSources& sources = facts.state->sources;
  if (sources.spec == nullptr || sources.variant == nullptr || has_own_plans(*sources.spec))
    return out;
  const LaunchPlan& plan = sources.variant->launch;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string letter(1, "xyz"[axis]);
    if (plan.block[axis] == Expression(1)) out.emplace("threadIdx." + letter, 0);
    if (plan.grid[axis] == Expression(1)) out.emplace("blockIdx." + letter, 0);
  }
  return out;
}

}  // namespace

std::vector<const Stmt*> terms_of_launch(const KernelFacts& facts) {
  std::vector<const Stmt*> out;
  const Bindings zeros = zeros_of(facts);
  if (zeros.empty()) return out;
  for (const Write& write : facts.state->writes) {
    const bool adds =
        write.node != nullptr && write.stmt != nullptr && write.variable != nullptr &&
        write.stmt->is(StmtKind::expression) && write.stmt->expr == write.node &&
        (write.node->is_op(ExprKind::assign, "+=") || write.node->is_op(ExprKind::assign, "-=")) &&
        write.node->arg(0).is(ExprKind::name) && !write.variable->is_pointer() &&
        is_integer_type(facts.unit->plain_text(write.variable->type));
    if (!adds || write.stmt->parent == nullptr || !write.stmt->parent->is(StmtKind::block) ||
        !is_pure(*facts.unit, write.node->arg(1)))
      continue;
    const Polynomial value = facts.polynomial(write.node->arg(1));
    // a plain 0 is no matter of the launch
    if (value.is_known() && !value.is_zero() && value.bound(zeros).is_zero())
      out.push_back(write.stmt);
  }
  return out;
}

bool drop_launch_term(const NormalSite& site, std::vector<Edit>& edits) {
  const std::vector<const Stmt*> found = terms_of_launch(site.facts);
  if (found.empty()) return false;
  const Span lines = whole_lines(site.unit, found.front()->span);
  edits.push_back({lines.begin, lines.end, ""});
  return true;
}

}  // namespace warpath
