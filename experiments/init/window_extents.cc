#include "experiments/init/window_extents.h"

#include <algorithm>
#include <utility>

#include "experiments/init/index_sources.h"

namespace warpath {

using model::Polynomial;

WindowExtents::WindowExtents(const model::KernelFacts& facts) {
  for (const auto& guard : facts.guards) {
    for (const Polynomial& bound : guard->nonnegative) {
      // bound = extent - 1 - index >= 0, and the index of a thread is not negative
      Polynomial extent = 1;
      bool of_threads = false;
      for (const auto& term : bound.terms()) {
        Polynomial one = term.coefficient;
        bool index = false;
        for (const auto& factor : term.factors) {
          one = factor->op.empty() ? one * Polynomial::name(factor->text) : Polynomial::unknown();
          index = index || is_thread(factor->text);
        }
        if (!index) extent += one;
        if (index && term.coefficient > 0) extent = Polynomial::unknown();
        of_threads = of_threads || index;
      }
      if (!of_threads || !extent.is_known() || extent.has_only_positive_terms()) continue;
      const auto names = extent.names();
      const auto known = [&](const std::string& name) {
        return facts.kernel->parameter(name) != nullptr;
      };
      const auto lead = std::ranges::find_if(names, [&](const std::string& name) {
        return extent.affine_in(name) && extent.coefficient_of(name).constant() == 1;
      });
      if (lead == names.end() || !std::ranges::all_of(names, known)) continue;
      const bool is_new = std::ranges::none_of(
          extents_, [&](const Extent& other) { return other.value == extent; });
      if (is_new) extents_.push_back({.value = extent, .name = *lead});
    }
  }
}

std::set<std::string> WindowExtents::windows() const {
  std::set<std::string> out;
  for (const Extent& extent : extents_)
    for (const auto& term : extent.value.terms())
      if (term.factors.size() == 1 && term.coefficient < 0) out.insert(term.factors[0]->text);
  return out;
}

/// p / extent where that is a polynomial: with the extent itself for a variable all terms have it
/// as a factor.
std::optional<Polynomial> WindowExtents::quotient(const Polynomial& p, const Extent& extent) {
  const std::string own = "#window";
  const Polynomial within =
      p.substituted(extent.name, Polynomial::name(own) - extent.value.without(extent.name));
  if (!within.affine_in(own) || !within.without(own).is_zero()) return std::nullopt;
  return within.coefficient_of(own);
}

bool WindowExtents::positive(const Polynomial& p) const {
  if (!p.is_known() || p.is_zero()) return false;
  return p.has_only_positive_terms() || std::ranges::any_of(extents_, [&](const Extent& extent) {
           const auto rest = quotient(p, extent);
           return rest && positive(*rest);
         });
}

std::optional<std::vector<Polynomial>> WindowExtents::shape_of(const Polynomial& elements,
                                                               const Polynomial& index) const {
  Polynomial rest = elements;
  std::vector<std::pair<std::size_t, Polynomial>> inner;  // more strides have what is further in
  for (const Extent& extent : extents_) {
    const auto left = quotient(rest, extent);
    if (!left) continue;
    rest = *left;
    const auto atoms = index.atoms();
    const auto strides = std::ranges::count_if(atoms, [&](const std::string& atom) {
      const Polynomial stride = index.coefficient_of(atom);
      return !stride.is_zero() && quotient(stride, extent);
    });
    inner.emplace_back(strides, extent.value);
  }
  if (inner.empty()) return std::nullopt;
  std::ranges::stable_sort(inner, {}, &std::pair<std::size_t, Polynomial>::first);
  std::vector<Polynomial> out;
  if (rest.constant() != 1) out.push_back(rest);
  for (auto& [strides, extent] : inner) out.push_back(std::move(extent));
  return out;
}

}  // namespace warpath
