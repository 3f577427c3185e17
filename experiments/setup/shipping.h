#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/run/session.h"
#include "engine/run/session_result.h"

namespace warpath {

/// Records the assumptions of the best kernel of the run in `folder`: "contract" in
/// best_summary.json, and its source with the contract as best_kernel.cu and, if variants are kept,
/// as source.cu of its folder; of its versions likewise: "versions", best_kernel_1.cu and so on.
/// What serves each workload is "sizes". For the baseline no contract is recorded, and there is no
/// best_kernel.cu. Writes the portfolio too (portfolio_file.h).
void ship_best(const std::filesystem::path& folder, const SessionResult& result);

/// One line on the conditions for which the recorded best is valid if they are narrower than the
/// spec's kernel's; empty if they are not, nothing was shipped, or there are versions, of which one
/// holds where the others do not.
[[nodiscard]] std::string narrowed_contract(const std::filesystem::path& folder);

/// A line a workload of the recorded best: its times and which version runs it; none for a spec
/// with one workload on the device, or where the baseline is the best.
[[nodiscard]] std::vector<std::string> size_lines(const std::filesystem::path& folder);

}  // namespace warpath
