#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/spec/tensor.h"
#include "experiments/exchange/python_reference.h"
#include "experiments/init/spec_draft.h"

namespace warpath {

/// A draft made a spec of a published problem, with the files that it needs beside it.
struct ImportedDraft {
  SpecDraft draft;
  std::vector<std::pair<std::string, Tensor>> files;  ///< .npy, by name
  std::vector<std::string> left_out;                  ///< ids of workloads
};

/// Puts a problem into the draft of a kernel that solves it: sizes by the shapes of its tensors, a
/// workload for each of its own, inputs and expected outputs as the reference gave them, in files
/// of `folder`. Shapes stay as the kernel's text has them where they agree with the problem's. If
/// there are no values, the draft's reference and contents stay, which is a guess. Throws
/// Error(bad_input) at `place` where kernel and problem do not fit.
[[nodiscard]] ImportedDraft import_problem(const SpecDraft& draft,
                                           const Definition& definition,
                                           const std::vector<ProblemWorkload>& workloads,
                                           const ReferenceAnswer& answer,
                                           const std::string& folder,
                                           const std::string& place);

}  // namespace warpath
