#include <algorithm>

#include "engine/base/error.h"
#include "engine/search/search_impl.h"

// What strategies ask of their search (Field).
namespace warpath {
std::uint32_t Search::Impl::actions(NodeId node) {
  if (nodes[node].state != NodeState::measured || nodes[node].depth >= options.max_depth) return 0;
  if (!nodes[node].opened || !orders.has(node)) open(node);
  return nodes[node].action_count;
}

Change Search::Impl::change(EdgeId edge) {
  const std::uint32_t action = nodes[edge].action;
  if (action == kGraft) return space.grafted(nodes.target(edge));
  const NodeId from = nodes.source(edge);
  if (action >= actions(from)) return {};
  return {.label = space.label(from, action),
          .site = space.site(from, action),
          .family = space.family(from, action)};
}

std::uint32_t Search::Impl::draw_action(NodeId node) {
  constexpr double kUniform = 0.1;  // nothing is out of reach
  const std::uint32_t count = actions(node);
  WARPATH_CHECK(count > 0);
  if (draws == Draws::ordered) {
    if (index(node) >= turns.size()) turns.resize(index(node) + std::size_t{1});
    return orders.at(node, nodes.key(node), turns[index(node)]++ % count, count).action;
  }
  if (draws == Draws::uniform || rng().uniform() < kUniform)
    return static_cast<std::uint32_t>(rng().below(count));
  double left = rng().uniform();
  std::uint32_t rank = 0;
  for (; rank + 1 < count; ++rank) {
    left -= orders.at(node, nodes.key(node), rank, count).prior;
    if (left < 0) break;
  }
  return orders.at(node, nodes.key(node), rank, count).action;
}

Field::Arrival Search::Impl::act(NodeId node, std::uint32_t action) {
  const std::optional<Hash128> key = space.apply(node, action);
  if (!key) return {};
  const Linked linked =
      link(node, {.action = action}, *key, 1.0F / static_cast<float>(nodes[node].action_count));
  return {linked.child, linked.created};
}

Field::Arrival Search::Impl::visit(NodeId from, std::span<const Level> point) {
  if (nodes[from].state != NodeState::measured || nodes[from].depth >= options.max_depth)
    from = kRoot;
  const std::optional<Hash128> key = space.jump(from, point);
  if (!key) return {};
  const Linked linked = link(from, {.point = point}, *key, 0);
  return {linked.child, linked.created};
}

std::optional<Dispatch> Search::Impl::next_of_strategy() {
  const NodeId node = strategy->next(*this);
  asked_in_vain = node == kNoNode;
  if (asked_in_vain) return std::nullopt;
  path = creating_path(node);
  return dispatch();
}

void Search::Impl::keep_strategy(StrategyState& out) {
  out(strategy_stream, turns, twins, asked_in_vain);
  strategy->keep(out, *this);
}

std::vector<EdgeId> Search::Impl::creating_path(NodeId node) const {
  std::vector<EdgeId> out;
  for (NodeId at = node; at != kRoot; at = nodes.source(out.back()))
    out.push_back(nodes.first_in(at));
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace warpath
