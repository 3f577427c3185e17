#include "engine/search/wide_nodes.h"

#include <algorithm>
#include <functional>

#include "engine/base/error.h"

namespace warpath {
namespace {

TermSums::Term term_of(const Graph& graph, const Edge& edge) {
  const Node& child = graph[edge.target];
  if (edge.visits == 0) return {};
  if (child.state != NodeState::measured) return {.failed = edge.visits};
  return {.visits = edge.visits,
          .value = static_cast<double>(edge.visits) * child.value,
          .best = child.best};
}

}  // namespace

TermSums::Term TermSums::sum(const Pool<Term>& terms, std::size_t group) {
  Term out;
  const std::size_t end = std::min(terms.size(), (group + 1) * kGroup);
  for (std::size_t i = group * kGroup; i < end; ++i) {
    const Term& t = terms[i];
    if (t.visits > 0) out.best = out.visits == 0 ? t.best : std::max(out.best, t.best);
    out.visits += t.visits;
    out.value += t.value;
    out.failed += t.failed;
  }
  return out;
}

void TermSums::set(std::size_t position, const Term& term) {
  Term above = term;
  for (std::size_t level = 0;; ++level, position /= kGroup) {
    Pool<Term>& terms = levels_[level];
    WARPATH_CHECK(position <= terms.size());
    position == terms.size() ? terms.push_back(above) : static_cast<void>(terms[position] = above);
    if (terms.size() <= kGroup) return;
    if (level + 1 == levels_.size()) {  // the first group is whole: a level more begins with it
      Pool<Term> next;
      next.push_back(sum(levels_[level], 0));
      levels_.push_back(std::move(next));
    }
    above = sum(levels_[level], position / kGroup);
  }
}

TermSums::Term TermSums::total() const {
  return sum(levels_.back(), 0);
}

void ArmKinds::set(std::size_t position, const std::optional<Arm>& arm) {
  WARPATH_CHECK(position <= arms_.size());
  if (position == arms_.size()) arms_.push_back({});
  Known& known = arms_[position];
  const auto place = static_cast<std::uint32_t>(position);
  if (known.kind != nullptr) {
    known.kind->second.erase({known.value, place}, std::less());
    if (known.kind->second.empty()) kinds_.erase(kinds_.find(known.kind->first));
  }
  known = {};
  if (!arm) return;
  known = {arm->value, &*kinds_.try_emplace({arm->prior, arm->visits, arm->in_flight}).first};
  known.kind->second.insert({known.value, place}, std::less());
}

std::optional<Arm> ArmKinds::at(std::size_t position) const {
  const auto& [value, of] = arms_[position];
  if (of == nullptr) return std::nullopt;
  const Kind& kind = of->first;
  return Arm{
      .value = value, .prior = kind.prior, .visits = kind.visits, .in_flight = kind.in_flight};
}

void ArmKinds::sufficient(const SelectionPolicy& policy,
                          const NodeView& node,
                          Rng& rng,
                          std::vector<std::uint32_t>& out) const {
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  for (const auto& [unused, ranked] : kinds_) {
    const Entry& highest = ranked.back();
    out.push_back(highest.position);
    // Of equal values the first suffices. A lower one can have the same score by rounding: shown
    // before the highest, it is then selected.
    for (const Entry* next = &highest;;) {
      next = ranked.last_below({next->value, UINT32_MAX}, std::less());
      if (next == nullptr) break;
      const std::array<Arm, 2> pair{*at(next->position), *at(highest.position)};
      if (policy.select(pair, node, rng) != 0) break;
      out.push_back(next->position);
    }
  }
  std::sort(out.begin() + first, out.end());
}

void WideNodes::put(const Graph& graph, Wide& wide, std::size_t position) {
  const EdgeId edge = wide.edges[position];
  wide.terms.set(position, term_of(graph, graph[edge]));
  if (arm_of_) wide.arms.set(position, arm_of_(edge));
}

void WideNodes::settle(const Graph& graph, Wide& wide, NodeId node) {
  EdgeId next = wide.edges.empty() ? graph[node].first_out : graph[wide.edges.back()].next_out;
  for (; next != kNoEdge; next = graph[next].next_out) {
    wide.edges.push_back(next);
    const std::size_t child = index(graph[next].target);
    if (child >= watched_.size()) watched_.resize(graph.node_count(), Watch::no);
    if (watched_[child] == Watch::no) watched_[child] = Watch::quiet;
    put(graph, wide, wide.edges.size() - 1);
  }
  for (const NodeId child : changed_) {
    watched_[index(child)] = Watch::quiet;
    for (EdgeId e = graph[child].first_in; e != kNoEdge; e = graph[e].next_in) {
      const auto source = wide_.find(graph[e].source);
      if (source == wide_.end()) continue;
      const Pool<EdgeId>& edges = source->second.edges;
      const auto at = std::ranges::lower_bound(edges, e);
      // one that is not there yet is taken in with its node's other new ones
      if (at != edges.end())
        put(graph, source->second, static_cast<std::size_t>(at - edges.begin()));
    }
  }
  changed_.clear();
}

const WideNodes::Wide* WideNodes::find(const Graph& graph, NodeId node) {
  if (wide_.empty()) return nullptr;
  const auto it = wide_.find(node);
  if (it == wide_.end()) return nullptr;
  settle(graph, it->second, node);
  return &it->second;
}

const WideNodes::Wide& WideNodes::add(const Graph& graph, NodeId node) {
  Wide& wide = wide_[node];
  settle(graph, wide, node);
  return wide;
}

std::string WideNodes::violated_invariant(const Graph& graph) {
  for (auto& [node, wide] : wide_) {
    settle(graph, wide, node);
    TermSums fresh;
    std::size_t position = 0;
    const auto is_right = [&](EdgeId e) {
      fresh.set(position, term_of(graph, graph[e]));
      return position < wide.edges.size() && wide.edges[position] == e &&
             wide.terms.at(position) == fresh.at(position) &&
             (!arm_of_ || wide.arms.at(position) == arm_of_(e));
    };
    for (EdgeId e = graph[node].first_out; e != kNoEdge; e = graph[e].next_out, ++position) {
      if (!is_right(e))
        return "node " + std::to_string(index(node)) + " is wide and its child " +
               std::to_string(position) + " is not as the graph has it";
    }
    if (wide.terms.total() != fresh.total())
      return "node " + std::to_string(index(node)) + " is wide and has a wrong total";
  }
  return {};
}

}  // namespace warpath
