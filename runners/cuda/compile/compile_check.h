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

/// Judges variants without a GPU: NVRTC in worker processes, the gates on text and code, static
/// diagnosis. Nothing is launched, so an ok outcome has no times; hence not a Runner.
class CompileCheck {
 public:
  /// `arch`: target architecture ("sm_90a"); typical device limits are assumed, not probed. Throws
  /// Error(bad_input) for an unknown architecture, Error(environment) if NVRTC is missing.
  CompileCheck(const CudaOptions& options, std::string program, const std::string& arch);

  /// Device facts for moves; `name` says that they are assumed.
  [[nodiscard]] const DeviceFacts& device() const { return facts_; }
  /// Compiles the spec's own kernel, with which gates compare. Throws Error(bad_input) if it does
  /// not compile or no workload is for a GPU. `spec` must outlive the check.
  void prepare(const KernelSpec& spec);
  /// Status ok: everything that can be checked without a device passed. Requires prepare().
  /// Thread-safe.
  [[nodiscard]] Outcome check(const Variant& variant, const std::stop_token& stop = {}) const;
  /// Opcode counts of `variant` for the first scored workload, and its static diagnosis by fact
  /// name; nullopt, with one line in `why`, if it does not compile. Runs no gates. `tool`:
  /// disassembler for machine code; without one, or if it fails, only PTX is counted. Requires
  /// prepare(). Thread-safe.
  [[nodiscard]] std::optional<CodeCounts> code(const Variant& variant,
                                               const Disassembler& tool,
                                               std::string& why,
                                               const std::stop_token& stop = {}) const;

 private:
  /// Why the compiled variant cannot be launched as its plan says, in one line; empty if it can.
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
