#pragma once

#include <string>

#include "runners/worker/sandbox.h"

namespace warpath::host {

/// File access that a system compiler needs to make shared objects in `scratch`: its programs to
/// execute, headers and libraries to read, that folder to write. Asks the compiler where its parts
/// are; missing parts are left out.
[[nodiscard]] ProgramSandbox::Access compiler_access(const std::string& compiler,
                                                     const std::string& scratch);

}  // namespace warpath::host
