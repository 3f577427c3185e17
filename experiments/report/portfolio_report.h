#pragma once

#include <filesystem>
#include <string>

namespace warpath {

/// The decision list and the times of each size, as portfolio.json of the run in `folder` has them;
/// empty if there is none.
[[nodiscard]] std::string portfolio_text(const std::filesystem::path& folder);

}  // namespace warpath
