#include "engine/search/tuner.h"

#include <algorithm>

namespace warpath {
namespace {

/// The value next to `value` in `direction`; nullopt at the end of the range.
std::optional<std::int64_t> next_value(const std::vector<std::int64_t>& values,
                                       std::int64_t value,
                                       bool up) {
  const auto at = std::ranges::lower_bound(values, value);
  if (up) {
    const auto above = std::ranges::upper_bound(values, value);
    return above == values.end() ? std::nullopt : std::optional(*above);
  }
  return at == values.begin() ? std::nullopt : std::optional(*std::prev(at));
}

}  // namespace

bool Tuner::may_go_first(std::uint64_t dispatched) const {
  return options_.builds > 0 &&
         static_cast<double>(spent_ + 1) <= options_.share * static_cast<double>(dispatched + 1);
}

bool Tuner::is_open(const Site& site) const {
  return site.spent < options_.builds && site.without_better < options_.patience;
}

std::optional<MoveInstance> Tuner::neighbour(Site& site) const {
  for (const Tunable& parameter : site.domain) {
    const auto own = site.best.parameters.find(parameter.name);
    if (own == site.best.parameters.end()) continue;
    for (const bool up : {true, false}) {
      const auto value = next_value(parameter.values, own->second, up);
      if (!value || site.closed.contains({parameter.name, up})) continue;
      MoveInstance candidate = site.best;
      candidate.parameters[parameter.name] = *value;
      if (site.tried.insert(candidate.parameters).second) return candidate;
    }
  }
  return std::nullopt;
}

std::optional<Tuner::Wanted> Tuner::next(double best_reward) {
  if (options_.builds == 0) return std::nullopt;
  std::vector<std::pair<double, SiteKey>> order;
  for (const auto& [key, site] : sites_) {
    if (is_open(site) && site.best_reward >= best_reward - options_.reach)
      order.emplace_back(-site.best_reward, key);
  }
  std::ranges::sort(order);
  for (const auto& [unused, key] : order) {
    Site& site = sites_.at(key);
    if (auto candidate = neighbour(site)) {
      return Wanted{
          .parent = std::get<0>(key), .sibling = site.best_node, .instance = std::move(*candidate)};
    }
  }
  return std::nullopt;
}

void Tuner::dispatched(NodeId parent, NodeId node, const MoveInstance& instance, bool is_tuning) {
  if (options_.builds == 0) return;
  const SiteKey key{parent, instance.move, instance.site};
  spent_ += is_tuning ? 1 : 0;
  const auto it = sites_.find(key);
  if (it == sites_.end()) {
    before_[key].insert(instance.parameters);
    return;
  }
  Site& site = it->second;
  site.tried.insert(instance.parameters);
  if (!is_tuning) return;
  ++site.spent;
  for (const auto& [name, value] : instance.parameters) {
    const auto own = site.best.parameters.find(name);
    if (own != site.best.parameters.end() && own->second != value)
      site.moved[node] = {site.best_node, {name, value > own->second}};
  }
}

void Tuner::measured(const Result& result, const std::function<std::vector<Tunable>()>& domain) {
  if (options_.builds == 0) return;
  const SiteKey key{result.parent, result.instance.move, result.instance.site};
  const auto it = sites_.find(key);
  if (it == sites_.end()) {
    if (!result.ok || !result.structural || result.reward < result.best_reward - options_.reach)
      return;
    Site begun;
    begun.domain = domain();
    begun.best = result.instance;
    begun.best_node = result.node;
    begun.best_reward = result.reward;
    std::erase_if(begun.domain,
                  [](const Tunable& parameter) { return parameter.values.size() < 2; });
    if (begun.domain.empty()) return;
    if (const auto tried = before_.find(key); tried != before_.end())
      begun.tried = std::move(tried->second);
    before_.erase(key);
    sites_.emplace(key, std::move(begun));
    return;
  }
  Site& site = it->second;
  const auto moved = site.moved.find(result.node);
  // Results requested from an earlier best say nothing about the neighbours of the present one.
  std::optional<Direction> direction;
  if (moved != site.moved.end()) {
    if (moved->second.first == site.best_node) direction = moved->second.second;
    site.moved.erase(moved);
  }
  if (result.ok && result.reward > site.best_reward) {
    site.best = result.instance;
    site.best_node = result.node;
    site.best_reward = result.reward;
    site.without_better = 0;
    return;
  }
  if (!direction) return;
  ++site.without_better;
  if (!result.ok || result.reward < site.best_reward - options_.margin)
    site.closed.insert(*direction);
}

void Tuner::Site::keep(StrategyState& state) {
  std::size_t count = domain.size();
  state(count);
  domain.resize(count);
  for (Tunable& t : domain) state(t.name, t.values, t.default_value, t.help);
  state(best.move, best.site, best.parameters, best_node, best_reward);
  state(tried, closed, moved, spent, without_better);
}

}  // namespace warpath
