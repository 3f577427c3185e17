#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpath {

/// Where the headers of a project may lie that a file of it includes: the folders around the file
/// from its own up to the project's, each with its `include`. A project's folder has `.git`; where
/// none has, it is the outermost that has what projects have at their top (a licence, a read-me, a
/// build file). Empty for a file that is in no project.
[[nodiscard]] std::vector<std::string> project_folders(const std::filesystem::path& file);

}  // namespace warpath
