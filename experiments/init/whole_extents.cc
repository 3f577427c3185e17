#include "experiments/init/whole_extents.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace warpath {

using model::Polynomial;

std::optional<Polynomial> whole_of(const Polynomial& end) {
  if (end.terms().size() < 2) return std::nullopt;
  for (const auto& term : end.terms()) {
    Polynomial whole = 1;
    for (const auto& factor : term.factors) {
      if (!factor->op.empty()) return std::nullopt;
      whole = whole * Polynomial::name(factor->text);
    }
    const Polynomial rest = whole - end;
    const auto names = whole.names();
    const bool inside = std::ranges::all_of(
        rest.names(), [&](const std::string& name) { return names.contains(name); });
    if (term.coefficient == 1 && !names.empty() && rest.has_only_positive_terms() && inside)
      return whole;
  }
  return std::nullopt;
}

Polynomial of_whole_steps(const Polynomial& end) {
  std::int64_t common = 0;
  for (const auto& term : end.terms()) {
    if (!term.factors.empty()) common = std::gcd(common, term.coefficient);
  }
  const std::int64_t step = 1 - end.constant_term();
  return step > 1 && common % step == 0 && common > 0 ? end + (step - 1) : end;
}

std::set<std::int64_t> tiles_of(const Polynomial& extent) {
  std::set<std::int64_t> out;
  if (const auto own = extent.constant(); own && *own > 1) out.insert(*own);
  for (const model::Atom* const operation : extent.operations()) {
    if (operation->op != "/" || operation->operands[0].names().empty()) continue;
    const auto tile = operation->operands[1].constant();
    if (tile && *tile > 1) out.insert(*tile);
  }
  return out;
}

}  // namespace warpath
