#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "engine/plugin/evaluator.h"
#include "engine/plugin/policy.h"
#include "engine/run/campaign.h"

namespace warpath {

class LateExchange;

/// Whom a campaign is driven for: a session, which records it on a disk, or a study, which counts.
/// All calls come from the driver's thread.
class CampaignHost {
 public:
  virtual ~CampaignHost() = default;
  /// Time of the campaign so far, of the wall or of whatever clock evaluations go by.
  [[nodiscard]] virtual double seconds() const = 0;
  /// The variant of `node` as the evaluator must be told; the driver fills in the rest.
  [[nodiscard]] virtual Submission submission(NodeId node) = 0;
  /// The search chose; before anything else follows from it.
  virtual void on_dispatch(const Campaign::Pending&) {}
  /// The search had nothing; `sequence` is that of the next dispatch.
  virtual void on_idle(std::uint64_t /*sequence*/) {}
  /// Applies an outcome to the campaign. The driver selects before it hands over the next.
  virtual void apply(std::uint64_t sequence, Outcome outcome) = 0;
  virtual void apply(const Finals::Due& due, Outcome outcome) = 0;
  /// While waiting, about ten times a second.
  virtual void tick() {}
};

/// A campaign that has begun, and what drives it. Everything referred to outlives the calls.
struct Driver {
  Campaign& campaign;
  Evaluator& evaluator;
  CampaignHost& host;
  const SearchOptions& options;
  /// null: what is told is evaluated, and nothing else (SessionSetup::only_late)
  const StopPolicy* policy;
  LateExchange* late = nullptr;
  std::stop_token stop = {};     ///< finish what is under way
  std::stop_token abandon = {};  ///< drop it
};

struct SearchEnd {
  std::string reason;  ///< of the policy, or of the search
  bool interrupted = false;
};

/// Selects, submits and applies until a stop policy, the person or the space ends it.
///
/// The graph depends on which outcomes a selection has seen. In the deterministic mode that is
/// fixed: outcomes are applied in dispatch order, and dispatch n is selected right after outcome
/// n - window, whatever is under way. A stop therefore goes on selecting as outcomes arrive and
/// only stops submitting; what is selected but not evaluated waits for the next session. With late
/// proposers every selection also waits for what they say of the nodes that the one before opened,
/// and a stop is at once.
[[nodiscard]] SearchEnd drive_search(const Driver& driver);

/// Evaluates what the finals want and hands the outcomes over in the order of Finals::due, whatever
/// they take. True once the finals are decided, false if a stop came first.
[[nodiscard]] bool drive_finals(const Driver& driver);

}  // namespace warpath
