#pragma once

#include "engine/spec/spec.h"

namespace warpath {

/// Reads the headers that the spec's texts include from its `system_include_folders`, and what
/// those include, into `system_headers`. A name is looked up beside the header that has the line,
/// if it is in quotes, then in the folders in order; lines of every condition count, since
/// conditions depend on the compiler, and so do all definitions of a macro that is included. Names
/// that no folder has stay with the compiler. A header is stored under its path within its folder,
/// and lines that name it otherwise are rewritten to that. If `system_headers` has a key already (a
/// record of a run), the headers must have it. Throws Error(bad_input) for another key, a header
/// that cannot be read, and more than 64 MiB.
void read_system_headers(KernelSpec& spec);

}  // namespace warpath
