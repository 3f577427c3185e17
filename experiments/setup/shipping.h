#pragma once

#include <filesystem>
#include <string>

#include "engine/base/hash.h"

namespace warpath {

/// Records the assumptions of the best kernel of the run in `folder`: "contract" in
/// best_summary.json, and its source with the contract as best_kernel.cu and, if variants are kept,
/// as source.cu of its folder. For the baseline nothing is recorded, and there is no
/// best_kernel.cu.
void ship_best(const std::filesystem::path& folder, const Hash128& best);

/// One line on the conditions for which the recorded best is valid if they are narrower than the
/// spec's kernel's; empty if they are not, or nothing was shipped.
[[nodiscard]] std::string narrowed_contract(const std::filesystem::path& folder);

}  // namespace warpath
