#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/session_result.h"
#include "engine/spec/spec.h"
#include "moves/contract/source_contract.h"

namespace warpath {

/// best_summary.json of a run folder (docs/run-folder.md): what a session wrote, and what is known
/// of the kernel that was shipped, once the run ended.
struct BestSummary : SessionResult {
  struct Version {
    Bindings when;
    std::string file;
    SourceContract contract;
  };
  struct Size {
    std::string workload;
    WorkloadRole role = WorkloadRole::score;
    Bindings values;
    Bindings when;
    std::size_t version = 0;
    std::string file;
    std::optional<double> baseline_ms, best_ms, speedup;  ///< absent: it is only checked
  };
  std::optional<SourceContract> contract;  ///< of the best kernel; absent: it is the spec's own
  std::vector<Version> versions;           ///< of a kernel with several
  std::vector<Size> sizes;                 ///< where the device has several workloads
};

/// nullopt if there is none. Throws Error(bad_input) naming file and key if it is damaged.
[[nodiscard]] std::optional<BestSummary> read_best_summary(const std::filesystem::path& folder);
[[nodiscard]] nlohmann::json to_json(const BestSummary& summary);
/// Written atomically.
void write_best_summary(const std::filesystem::path& folder, const BestSummary& summary);

}  // namespace warpath
