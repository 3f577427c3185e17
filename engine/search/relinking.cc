#include "engine/search/relinking.h"

#include <cmath>
#include <utility>

#include "engine/search/graph.h"

namespace warpath {
std::vector<WayStep> way_of(const Field& field, NodeId node, double margin) {
  const Graph& graph = field.graph();
  std::vector<WayStep> out{{.node = node}};
  while (node != kRoot) {
    const EdgeId made = graph.first_in(node);
    const NodeId from = graph.source(made);
    if (from == kRoot || std::abs(field.worth(node) - field.worth(from)) > margin)
      out.push_back({.node = from, .made = made});
    node = from;
  }
  return out;
}

std::vector<Change> changes_from(Field& field, std::span<const WayStep> way, std::size_t at) {
  std::vector<Change> out;
  for (const WayStep& step : way.subspan(1, at)) out.push_back(field.change(step.made));
  return out;
}

void Relinking::begin(std::vector<Change> way) {
  replaces_ = true;
  replaced_ = way.back();
  way.pop_back();
  rest_ = std::move(way);
}

/// Any other one of the kind.
std::ptrdiff_t Relinking::instead(std::span<const Step> open, Rng& rng) const {
  std::ptrdiff_t out = -1;
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < open.size(); ++i) {
    const Change& change = open[i].change;
    if (change.family == 0 || change.family != replaced_.family || change.label == replaced_.label)
      continue;
    if (rng.below(++seen) == 0) out = static_cast<std::ptrdiff_t>(i);
  }
  return out;
}

std::ptrdiff_t Relinking::next(std::span<const Step> open, Rng& rng) {
  if (replaces_) {
    replaces_ = false;
    const std::ptrdiff_t out = instead(open, rng);
    if (out < 0) rest_.clear();
    return out;
  }
  while (!rest_.empty()) {
    const Change wanted = rest_.back();
    rest_.pop_back();
    std::ptrdiff_t out = -1;
    bool same = false;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const Change& change = open[i].change;
      if (change.site == 0 || change.site != wanted.site) continue;
      const bool exact = change.label == wanted.label;
      const bool better =
          out < 0 || exact > same ||
          (exact == same && open[i].gain > open[static_cast<std::size_t>(out)].gain);
      if (better) out = static_cast<std::ptrdiff_t>(i);
      same = same || exact;
    }
    if (out >= 0) return out;
  }
  return -1;
}

}  // namespace warpath
