#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/log/events.h"
#include "engine/plugin/outcome_reader.h"
#include "engine/run/campaign.h"

namespace warpath {

/// Data that trace.md and ledger.csv need besides the campaign.
struct RecordNames {
  std::string name;  ///< of the spec
  std::string runner;
  std::string device;
  std::string revision;         ///< of the program; empty if unknown
  OutcomeReader findings = {};  ///< describes a diagnosis in trace.md; empty: not at all
};

// trace.md: the run as a narrative, one paragraph per outcome. A function of the events alone.

[[nodiscard]] std::string trace_title(const RecordNames& names, std::uint64_t seed);
[[nodiscard]] std::string trace_session(int session, double at);
[[nodiscard]] std::string trace_baseline(const Campaign& campaign,
                                         const RecordNames& names,
                                         const BaselineEvent& event);
/// `path`: of the dispatch, root first.
[[nodiscard]] std::string trace_outcome(const Campaign& campaign,
                                        const RecordNames& names,
                                        const OutcomeEvent& event,
                                        const Campaign::Applied& applied,
                                        const std::vector<NodeId>& path);

/// A finalist or, as node 0, the baseline timed beside them.
[[nodiscard]] std::string trace_final(const Campaign& campaign,
                                      const FinalEvent& event,
                                      const Finals::Applied& applied);
[[nodiscard]] std::string trace_final(const Campaign& campaign,
                                      const HeatEvent& event,
                                      const Finals::Applied& applied);

// ledger.csv: one row per workload and cache state of an outcome (one row without figures if it has
// no times).

[[nodiscard]] std::string ledger_header();
/// An outcome to write.
struct LedgerEntry {
  int session = 0;
  double at = 0;
  std::string sequence;  ///< "baseline", the dispatch number, "final"
  NodeId node = kNoNode;
  const Outcome& outcome;
  /// what it is compared with unless the baseline was timed alongside; null: itself
  const Outcome* baseline = nullptr;
  double speedup = 0;  ///< by the objective; 0: none
};
[[nodiscard]] std::string ledger_rows(const Campaign& campaign,
                                      const RecordNames& names,
                                      const LedgerEntry& entry);

}  // namespace warpath
