#pragma once

#include <string>
#include <vector>

#include "engine/spec/local_headers.h"

namespace warpath {

/// The text of a kernel's file with the headers that it includes, in `folders` and in its project.
/// A name that neither has is looked for in the whole project, nearest first. A header that has the
/// kernel is read as a file of the project does that includes it, if one does: with what stands
/// before it there, and with its launch. Headers of the project are left out where they cannot be
/// read together, which goes to stderr. The project is what project_folders says.
[[nodiscard]] FlatSource project_text(const std::string& file,
                                      const std::string& kernel,
                                      const std::vector<std::string>& folders);

}  // namespace warpath
