#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "engine/text/code_counts.h"
#include "runners/cuda/code/disassembler.h"
#include "runners/cuda/compile/build.h"
#include "runners/cuda/options.h"

namespace warpath::cuda {

/// Judges variants without a GPU: NVRTC in worker processes, the gates on text and code, the static
/// diagnosis. Nothing is launched, so an outcome that is ok has no times; this is no Runner.
class CompileCheck {
 public:
  /// `arch`: what to compile for ("sm_90a"); the limits of its devices are assumed, not probed.
  /// Throws Error(bad_input) for one that it does not know, Error(environment) where there is no
  /// NVRTC.
  CompileCheck(const CudaOptions& options, std::string program, const std::string& arch);

  /// A GPU in the eyes of moves. `name` says that it is assumed.
  [[nodiscard]] const DeviceFacts& device() const { return facts_; }
  /// Compiles the spec's own kernel, whose code the gates compare with. Throws Error(bad_input)
  /// where it does not compile or no workload is for a GPU. `spec` outlives the check.
  void prepare(const KernelSpec& spec);
  /// Status ok: everything that can be known without a device is good. prepare() comes first.
  /// Thread-safe.
  [[nodiscard]] Outcome check(const Variant& variant, const std::stop_token& stop = {}) const;
  /// What the code of `variant` under the first scored workload holds, and its static diagnosis
  /// under the names of facts; nullopt, with one line in `why`, where it does not compile. Gates
  /// are not asked. `tool`: for machine code as text; where it is none, or fails, there is PTX
  /// alone. prepare() comes first. Thread-safe.
  [[nodiscard]] std::optional<CodeCounts> code(const Variant& variant,
                                               const Disassembler& tool,
                                               std::string& why,
                                               const std::stop_token& stop = {}) const;

 private:
  /// Why the compiled variant cannot be launched as its plan says: one line; empty if it can.
  [[nodiscard]] std::string launch_refusal(const Build& build) const;

  DeviceFacts facts_;
  std::string arch_;
  DeviceLimits limits_;
  std::unique_ptr<CompileService> service_;
  std::unique_ptr<Builder> builder_;
  const KernelSpec* spec_ = nullptr;
  std::vector<const Workload*> workloads_;
  BaselineText baseline_;
};

}  // namespace warpath::cuda
