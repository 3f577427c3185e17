#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/exchange/definition.h"
#include "experiments/ship/export_folder.h"

namespace warpath {

/// Where results go back to.
enum class SolutionFormat : std::uint8_t { flashinfer_trace, sol_execbench, kernelbench };

struct SolutionRequest {
  SolutionFormat format = SolutionFormat::flashinfer_trace;
  Definition definition;
  std::vector<ProblemWorkload> workloads;  ///< of the run's spec by their ids, and others
  std::string author;
};

/// Throws Error(bad_input) with `place`.
[[nodiscard]] SolutionFormat solution_format(const std::string& text, const std::string& place);

/// The best kernel of a run as a solution of its problem: solution.json with a binding for PyTorch,
/// and traces.jsonl with a measured result a workload; of a problem of KernelBench NAME.py with a
/// class ModelNew. Throws Error(bad_input) if the kernel's arguments do not follow from the
/// problem's, or the run has none of the workloads.
[[nodiscard]] FolderFiles solution_files(const Shipment& shipment,
                                         const CompiledShipment& uncompiled,
                                         const SolutionRequest& request);

}  // namespace warpath
