#pragma once

#include <optional>
#include <string>

#include "experiments/init/host_launch.h"
#include "moves/syntax/unit.h"

namespace warpath {

struct DraftOptions {
  std::string file;         ///< the source, for messages
  std::string source_file;  ///< the text's name in the spec
  std::optional<HostLaunch> launch = {};
};

/// A spec made from a kernel's text.
struct SpecDraft {
  std::string spec;    ///< JSON; its `guessed` lists what no text states
  std::string source;  ///< of `source_file`: the kernel with what it names of its file
};

/// A spec of the kernel of `unit`: arguments by its parameters, roles and shapes by its accesses,
/// launch by its thread indices or by `options.launch`, the kernel as its own reference, a workload
/// for a GPU and one for the host. Throws Error(bad_input) with the parameter or construct that no
/// spec has an argument for.
[[nodiscard]] SpecDraft draft_spec(const model::Unit& unit,
                                   const model::Function& kernel,
                                   const DraftOptions& options);

}  // namespace warpath
