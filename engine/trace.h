#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/campaign.h"
#include "engine/events.h"

namespace warpath {

/// What the lines for people need beside the campaign.
struct RecordNames {
  std::string name;      ///< of the spec
  std::string runner;
  std::string device;
  std::string revision;  ///< of the program; empty if unknown
};

// trace.md: the run as a story, one paragraph an outcome. A function of the events alone.

[[nodiscard]] std::string trace_title(const RecordNames& names, std::uint64_t seed);
[[nodiscard]] std::string trace_session(int session, double at);
[[nodiscard]] std::string trace_baseline(const Campaign& campaign, const BaselineEvent& event);
/// `path`: of the dispatch, root first.
[[nodiscard]] std::string trace_outcome(const Campaign& campaign,
                                        const OutcomeEvent& event,
                                        const Campaign::Applied& applied,
                                        const std::vector<NodeId>& path);

// ledger.csv: one row a workload of an outcome (one row without figures if it has no times).

[[nodiscard]] std::string ledger_header();
/// `node` 0: the baseline.
[[nodiscard]] std::string ledger_rows(const Campaign& campaign,
                                      const RecordNames& names,
                                      int session,
                                      double at,
                                      std::uint64_t sequence,
                                      NodeId node,
                                      const Outcome& outcome);

/// One field of CSV, quoted where RFC 4180 asks for it; line ends become blanks.
[[nodiscard]] std::string csv_field(std::string_view text);
/// "2026-11-21T09:42:23Z"
[[nodiscard]] std::string utc_text(double unix_seconds);

}  // namespace warpath
