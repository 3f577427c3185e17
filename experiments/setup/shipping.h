#pragma once

#include <filesystem>
#include <string>

#include "engine/base/hash.h"

namespace warpath {

/// Says what the best kernel of the run in `folder` relies on: "contract" in best_summary.json, its
/// source with the contract in it as best_kernel.cu and, where variants are kept, as the source.cu
/// of its folder. Of the baseline nothing is said, and there is no best_kernel.cu.
void ship_best(const std::filesystem::path& folder, const Hash128& best);

/// One line of what the recorded best holds for where that is less than the spec's kernel; empty if
/// it is not, or nothing was shipped.
[[nodiscard]] std::string narrowed_contract(const std::filesystem::path& folder);

}  // namespace warpath
