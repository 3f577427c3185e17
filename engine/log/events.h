#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/hash.h"
#include "engine/base/ids.h"
#include "engine/plugin/outcome.h"
#include "engine/plugin/proposal.h"
#include "engine/plugin/variant_io.h"

namespace warpath {

/// Version of events.jsonl. Others are rejected.
inline constexpr std::uint64_t kRecordSchema = 1;

// The lines of events.jsonl, in the order in which they were applied. docs/run-folder.md shows
// each.

struct RunEvent {  ///< line 1
  std::uint64_t schema = kRecordSchema;
  std::string run_id;  ///< distinguishes runs that are otherwise equal
  std::string name;    ///< of the spec
  std::string runner;
  Hash128 config;  ///< config_hash
  Hash128 spec;    ///< hash of the spec searched
  std::uint64_t seed = 0;
};
struct SessionEvent {  ///< a process starts working on the run
  double at = 0;       ///< Unix time, seconds
};
struct BaselineEvent {  ///< only an ok baseline begins the search
  Hash128 key;
  Outcome outcome;
  double at = 0;
  double seconds = 0;  ///< wall time of the run so far
};
struct ProposalsEvent {  ///< proposals of an impure proposer at a node
  Hash128 key;           ///< variant_key of the node
  std::string proposer;
  std::vector<Proposal> proposals;
};
struct PriorsEvent {            ///< the weights that a learning prior gave a node's proposals
  Hash128 key;                  ///< variant_key of the node
  std::vector<double> weights;  ///< P(s, a), in the order of the proposals
};
struct ArrivalEvent {  ///< proposals for a node that was opened earlier
  Hash128 key;         ///< variant_key of the node
  std::string proposer;
  double share = 1;   ///< Arrival::share
  bool more = false;  ///< Arrival::more
  std::vector<Proposal> proposals;
};
struct DispatchEvent {  ///< the search chose a variant to evaluate
  std::uint64_t sequence = 0;
  NodeId node = kNoNode;
  NodeId parent = kNoNode;
  Hash128 key;  ///< variant_key
  MoveInstance instance;
  std::string source;        ///< proposer
  std::vector<NodeId> path;  ///< selected, root first, the node last
  VariantPatch change;       ///< relative to the parent
  double incumbent_ns = 0;   ///< as passed to the runner
  SourceShares shares = {};  ///< Prior::shares
};
struct OutcomeEvent {  ///< logged before it is applied to the graph
  std::uint64_t sequence = 0;
  Outcome outcome;
  double at = 0;
  double seconds = 0;
};
/// the search had nothing to dispatch (the attempt may have linked known nodes)
struct IdleEvent {
  std::uint64_t sequence = 0;  ///< of the next dispatch
};
/// a candidate of the finals was measured once more to decide whether it is a finalist; does not
/// affect the graph
struct HeatEvent {
  Hash128 key;  ///< variant_key of `node`
  NodeId node = kNoNode;
  std::uint64_t reading = 0;  ///< number of earlier readings of this node
  Outcome outcome;
  double at = 0;
  double seconds = 0;
};
/// a finalist, or the baseline beside them, was evaluated again; does not affect the graph
struct FinalEvent {
  Hash128 key;  ///< variant_key of `node`
  NodeId node = kNoNode;
  Outcome outcome;
  double at = 0;
  double seconds = 0;
};
using Event = std::variant<RunEvent,
                           SessionEvent,
                           BaselineEvent,
                           ProposalsEvent,
                           PriorsEvent,
                           ArrivalEvent,
                           DispatchEvent,
                           OutcomeEvent,
                           IdleEvent,
                           HeatEvent,
                           FinalEvent>;

/// Unix time now, for `at`.
[[nodiscard]] double unix_now();

/// One JSON object without a line feed. Outcomes must be `recordable`.
[[nodiscard]] std::string encode(const Event& event);
/// Throws Error(bad_input) "PLACE:/key: ..." (`place`: FILE:LINE).
[[nodiscard]] Event decode(std::string_view object, const std::string& place);

}  // namespace warpath
