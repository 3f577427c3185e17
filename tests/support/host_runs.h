#pragma once

#include <memory>
#include <string>
#include <utility>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "register_runners.h"
#include "runners/host/options.h"

namespace warpath::test {

/// Runs variants of one spec on the host; nothing is timed. One at a time in a program: all specs
/// share a runner, each has its reference computed once.
class HostRuns {
 public:
  /// With `bounds` an index outside of an array of the kernel's own ends the run as a crash. Throws
  /// Error if the spec cannot run here.
  explicit HostRuns(KernelSpec spec, bool bounds = false)
      : spec_(std::move(spec)), runner_(bounds ? &bounding_runner() : &runner()) {
    static int prepared = 0;
    spec_.origin += "#" + std::to_string(++prepared);  // specs of the same name stay apart
    for (Workload& workload : spec_.workloads) workload.role = WorkloadRole::regress;
    runner_->prepare(spec_);
  }
  [[nodiscard]] Outcome run(const Variant& variant, Stage stage = Stage::screening) const {
    RunRequest request{spec_, variant, variant_key(variant), 7};
    request.stage = stage;
    return runner_->run(request, {});
  }

 private:
  struct Shared {
    Options options;
    std::unique_ptr<Runner> runner;
    explicit Shared(const char* flags) {
      options.of<HostOptions>().threads = 2, options.of<HostOptions>().optimization = flags,
      options.of<HostOptions>().launch_seconds = 20;
      RunnerConfig config;
      config.options = &options;
      runner = registered_runners().create("--runner", "host", config);
    }
  };
  static Runner& runner() {
    static const Shared shared("-O0");
    return *shared.runner;
  }
  static Runner& bounding_runner() {
    static const Shared shared("-O0 -fsanitize=bounds -fsanitize-undefined-trap-on-error");
    return *shared.runner;
  }

  KernelSpec spec_;
  Runner* runner_;
};

}  // namespace warpath::test
