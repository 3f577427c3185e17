#pragma once

#include <string>

#include "runners/worker/sandbox.h"

namespace warpath::host {

/// What a system compiler needs of the file system to make shared objects in `scratch`: its
/// programs to start, headers and libraries to read, that folder to write. Asks the compiler where
/// its parts lie; parts that it does not have are left out.
[[nodiscard]] ProgramSandbox::Access compiler_access(const std::string& compiler,
                                                     const std::string& scratch);

}  // namespace warpath::host
