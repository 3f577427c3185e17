#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/base/ids.h"
#include "engine/plugin/move_instance.h"
#include "engine/plugin/options.h"
#include "engine/search/strategy_state.h"
#include "engine/spec/spec.h"

namespace warpath {

/// The `source` of variants requested by inner tuning.
inline constexpr std::string_view kTuningSource = "tuning";
/// That of variants that polish the best one (Move::polishes).
inline constexpr std::string_view kPolishSource = "polish";

/// Inner tuning: the parameters of a structural move (tiles, lanes per row) are initially a guess;
/// before the search trusts the move's value, neighbouring parameter values are tried. A hill climb
/// over the move's domain for each site (node, move, place):
///
///   first ok child of the site, at most tune.reach behind the best so far  ->  the site's best
///   next: the first untried neighbour of the site's best, one parameter one value up or down
///   better                        ->  the site's best, its neighbours are next
///   tune.margin slower or failed  ->  this parameter is not moved in this direction again
///   tune.builds spent, tune.patience results without a better one, no neighbour left  ->  done
///
/// Tried variants are ordinary siblings of the child: nodes, edges, events and builds like any
/// other. The state is a function of the reported dispatches and outcomes in their order, so that
/// replaying the log restores it. Sites take turns by their best results. Not thread-safe.
class Tuner {
 public:
  /// `options` must outlive the tuner.
  explicit Tuner(const TuneOptions& options) : options_(options) {}

  /// True while tuning has received less than its share of `dispatched` evaluations.
  [[nodiscard]] bool may_go_first(std::uint64_t dispatched) const;

  struct Wanted {
    NodeId parent = kNoNode;
    NodeId sibling = kNoNode;  ///< the site's best
    MoveInstance instance;
  };
  /// The next candidate, which is not offered again; nullopt if there is none now. Sites whose best
  /// is more than tune.reach behind `best_reward`, that of the run, are left alone.
  [[nodiscard]] std::optional<Wanted> next(double best_reward);

  /// Reports a dispatch; `is_tuning`: it was offered by next().
  void dispatched(NodeId parent, NodeId node, const MoveInstance& instance, bool is_tuning);

  struct Result {
    NodeId parent = kNoNode, node = kNoNode;
    const MoveInstance& instance;
    bool ok = false;
    double reward = 0;
    double best_reward = 0;   ///< of the run, before this result
    bool structural = false;  ///< Move::structural of the instance's move
  };
  /// Reports the outcome of a dispatch. `domain` is called when a site begins: Move::domain there.
  void measured(const Result& result, const std::function<std::vector<Tunable>()>& domain);

  void keep(StrategyState& state) { state(sites_, before_, spent_); }

 private:
  using Direction = std::pair<std::string, bool>;  // parameter; up
  struct Site {
    std::vector<Tunable> domain;
    MoveInstance best;
    NodeId best_node = kNoNode;
    double best_reward = 0;
    std::set<MoveParameters> tried;
    std::set<Direction> closed;
    // of tuning in flight: the best it started from, and the direction
    std::map<NodeId, std::pair<NodeId, Direction>> moved;
    int spent = 0;
    int without_better = 0;
    void keep(StrategyState& state);
  };
  using SiteKey = std::tuple<NodeId, std::string, std::string>;  // parent, move, site

  [[nodiscard]] std::optional<MoveInstance> neighbour(Site& site) const;
  [[nodiscard]] bool is_open(const Site& site) const;

  const TuneOptions& options_;
  std::map<SiteKey, Site> sites_;
  std::map<SiteKey, std::set<MoveParameters>> before_;  // tried at sites that have not begun
  std::uint64_t spent_ = 0;
};

}  // namespace warpath
