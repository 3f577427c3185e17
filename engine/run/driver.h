#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "engine/plugin/evaluator.h"
#include "engine/plugin/policy.h"
#include "engine/run/campaign.h"

namespace warpath {

class LateExchange;

/// The owner of a driven campaign: a session, which records it on disk, or a study. All calls come
/// from the driver's thread.
class CampaignHost {
 public:
  virtual ~CampaignHost() = default;
  /// Time of the campaign so far, on the wall clock or a virtual one.
  [[nodiscard]] virtual double seconds() const = 0;
  /// The variant of `node` in the form the evaluator needs; the driver fills in the rest.
  [[nodiscard]] virtual Submission submission(NodeId node) = 0;
  /// The search chose; called before anything follows from it.
  virtual void on_dispatch(const Campaign::Pending&) {}
  /// The search had nothing to dispatch; `sequence` is that of the next dispatch.
  virtual void on_idle(std::uint64_t /*sequence*/) {}
  /// Applies an outcome to the campaign. The driver selects before it passes on the next.
  virtual void apply(std::uint64_t sequence, Outcome outcome) = 0;
  virtual void apply(const Finals::Due& due, Outcome outcome) = 0;
  /// All that has arrived is applied or waits for its turn; called before the driver waits.
  virtual void before_wait() {}
  /// Called about ten times a second while waiting.
  virtual void tick() {}
};

/// A campaign that has begun, and its environment. Referenced objects must outlive the calls.
struct Driver {
  Campaign& campaign;
  Evaluator& evaluator;
  CampaignHost& host;
  const SearchOptions& options;
  /// null: evaluate only what late proposers propose (SessionSetup::only_late)
  const StopPolicy* policy;
  LateExchange* late = nullptr;
  std::stop_token stop = {};     ///< finish what is in flight
  std::stop_token abandon = {};  ///< drop it
};

struct SearchEnd {
  std::string reason;  ///< given by the policy or the search
  bool interrupted = false;
};

/// Selects, submits and applies until a stop policy, a stop request or the space ends it.
///
/// The graph depends on which outcomes each selection has seen. In deterministic mode that is
/// fixed: outcomes are applied in dispatch order, and dispatch n is selected right after outcome n
/// - window, whatever is in flight. After a stop, selection therefore continues as outcomes arrive,
/// and only submission stops; selected but unevaluated variants wait for the next session. With
/// late proposers every selection also waits for their answers about the nodes opened by the
/// previous one, and a stop takes effect at once.
[[nodiscard]] SearchEnd drive_search(const Driver& driver);

/// Evaluates what the finals request and delivers outcomes in the order of Finals::due, whatever
/// order they finish in. True once the finals are decided, false if a stop came first.
[[nodiscard]] bool drive_finals(const Driver& driver);

}  // namespace warpath
