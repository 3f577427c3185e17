#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runners/host/compile/compile.h"
#include "runners/host/execute/worker_client.h"
#include "runners/host/judge/inputs.h"
#include "runners/host/options.h"
#include "runners/reference/reference.h"

namespace warpath::host {

/// Expected outputs of one spec, from its reference: a host operation, a command, or a kernel,
/// which runs in a worker process that no candidate shares. A spec without a reference is judged by
/// its own baseline. Thread-safe.
class Oracle {
 public:
  /// Compiles a reference kernel. Throws Error(bad_input) if it does not compile.
  Oracle(const KernelSpec& spec,
         const Compiler& compiler,
         const HostOptions& options,
         const std::string& program);

  /// Inputs of `workload` under `seed` with their expected outputs. Throws Error if the reference
  /// fails.
  [[nodiscard]] std::shared_ptr<const InputSet> inputs(const Workload& workload,
                                                       std::uint64_t seed);
  /// Computes the expected outputs of `inputs`. Throws as above.
  void expect(const Workload& workload, InputSet& inputs);
  /// The outputs of a reference kernel whose arithmetic rounds in one direction; empty if the
  /// reference is no kernel, or fails.
  [[nodiscard]] TensorMap rounded(const Workload& workload,
                                  const InputSet& inputs,
                                  Rounding rounding);
  /// As `inputs`, cached.
  [[nodiscard]] std::shared_ptr<const InputSet> kept_inputs(const Workload& workload,
                                                            std::uint64_t seed);
  [[nodiscard]] bool is_baseline() const {
    return std::holds_alternative<std::monostate>(spec_.reference);
  }

 private:
  /// `again`: a repetition after the worker was killed from outside.
  [[nodiscard]] TensorMap run_kernel(const Workload& workload,
                                     const InputSet& inputs,
                                     Rounding rounding = Rounding::nearest,
                                     bool again = false);
  [[nodiscard]] const std::string& object_for(const Workload& workload);

  const KernelSpec spec_;
  const Compiler& compiler_;
  const HostOptions options_;
  std::mutex mutex_;
  std::unique_ptr<ReferenceSource> source_;
  Variant kernel_;                         // of a reference kernel or the baseline
  std::map<Macros, std::string> objects_;  // compiled, by macros
  WorkerClient worker_;
  std::map<std::pair<std::string, std::uint64_t>, std::shared_ptr<const InputSet>>
      kept_;  // shared: a run may outlive a later prepare
};

}  // namespace warpath::host
