#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "engine/base/hash.h"
#include "engine/base/rng.h"
#include "engine/search/search.h"

namespace warpath::test {

inline constexpr int kIllegal = -1;
inline constexpr double kFails = std::numeric_limits<double>::quiet_NaN();

/// An explicit small graph: place 0 is the root. actions[v][a] is the place that action a of v
/// leads to, or kIllegal.
struct Table {
  std::vector<std::vector<int>> actions;
  /// by place; kFails: the evaluation fails; the root's must be 0
  std::vector<double> rewards;
  std::vector<std::vector<float>> priors = {};            ///< by place; empty: equal
  std::vector<std::vector<std::uint64_t>> labels = {};    ///< by place; empty: none is known
  std::vector<std::vector<std::uint64_t>> families = {};  ///< by place; empty: the labels
};

/// A Space over a Table, which must outlive it.
class TableSpace final : public Space {
 public:
  explicit TableSpace(const Table& table) : table_(&table), places_{0} {}
  /// As places() of another left it.
  TableSpace(const Table& table, std::vector<int> places)
      : table_(&table), places_(std::move(places)) {}

  [[nodiscard]] static Hash128 key(int place) { return Hasher().add("place").add(place).digest(); }
  [[nodiscard]] int place(NodeId node) const { return places_.at(index(node)); }
  [[nodiscard]] Evaluation evaluate(NodeId node) const {
    const double r = table_->rewards.at(static_cast<std::size_t>(place(node)));
    return {.ok = !std::isnan(r), .reward = std::isnan(r) ? 0 : r};
  }

  void open(NodeId node, std::vector<float>& priors) override {
    const auto v = static_cast<std::size_t>(place(node));
    const std::size_t n = table_->actions.at(v).size();
    if (!table_->priors.empty()) {
      priors = table_->priors.at(v);
    } else {
      priors.assign(n, 1.0F / static_cast<float>(n));
    }
  }
  std::optional<Hash128> apply(NodeId node, std::uint32_t action) override {
    const int target = table_->actions.at(static_cast<std::size_t>(place(node))).at(action);
    return target == kIllegal ? std::nullopt : std::optional(key(target));
  }
  [[nodiscard]] std::uint64_t label(NodeId node, std::uint32_t action) const override {
    if (table_->labels.empty()) return 0;
    return table_->labels.at(static_cast<std::size_t>(place(node))).at(action);
  }
  [[nodiscard]] std::uint64_t family(NodeId node, std::uint32_t action) const override {
    if (table_->families.empty()) return label(node, action);
    return table_->families.at(static_cast<std::size_t>(place(node))).at(action);
  }
  void create(NodeId child, NodeId parent, const Step& step, const Hash128&) override {
    add(child, table_->actions.at(static_cast<std::size_t>(place(parent))).at(step.action));
  }
  /// Where a graft led.
  void add(NodeId child, int place) {
    if (index(child) >= places_.size()) places_.resize(index(child) + std::size_t{1}, kIllegal);
    places_[index(child)] = place;
  }
  [[nodiscard]] const std::vector<int>& places() const { return places_; }  ///< by NodeId

 private:
  const Table* table_;
  std::vector<int> places_;  // by NodeId
};

/// Places that evaluations can reach: from the root through places that are measured.
[[nodiscard]] inline std::set<int> reachable_places(const Table& table) {
  std::set<int> seen{0};
  std::vector<int> stack{0};
  while (!stack.empty()) {
    const auto v = static_cast<std::size_t>(stack.back());
    stack.pop_back();
    if (std::isnan(table.rewards[v])) continue;
    for (const int target : table.actions[v]) {
      if (target != kIllegal && seen.insert(target).second) stack.push_back(target);
    }
  }
  return seen;
}

/// A random table: up to `most_places` places, self-loops, parallel actions, cycles and illegal
/// actions included; rewards are multiples of 1/8; a share `failure` of the places but the root
/// fails.
[[nodiscard]] inline Table random_table(Rng& rng, int most_places, double failure) {
  const int n = 1 + static_cast<int>(rng.below(static_cast<std::uint64_t>(most_places)));
  Table table;
  for (int v = 0; v < n; ++v) {
    auto& actions = table.actions.emplace_back();
    for (std::uint64_t a = rng.below(5); a > 0; --a) {
      actions.push_back(rng.uniform() < 0.1
                            ? kIllegal
                            : static_cast<int>(rng.below(static_cast<std::uint64_t>(n))));
    }
    const double reward = static_cast<double>(rng.below(33)) / 8 - 2;
    table.rewards.push_back(v == 0 ? 0 : rng.uniform() < failure ? kFails : reward);
  }
  return table;
}

}  // namespace warpath::test
