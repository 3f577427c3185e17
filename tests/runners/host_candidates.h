#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "runners/host/options.h"

namespace warpath::test {

/// The host runner, quick: short timings, tight limits.
[[nodiscard]] std::unique_ptr<Runner> make_host_runner(HostOptions host = {});
[[nodiscard]] HostOptions quick();

/// A tensor argument of `extent` elements, with whole numbers where it is of integers.
[[nodiscard]] ArgSpec tensor(const std::string& name,
                             ArgRole role,
                             DType dtype = DType::f32,
                             const char* extent = "n");

/// y = 2 * x over n elements, blocks of 64; the reference is a kernel.
[[nodiscard]] KernelSpec doubling(DType dtype = DType::f32);

/// Prepares once, then runs one text after another as a candidate of the spec.
class Candidates {
 public:
  explicit Candidates(KernelSpec spec, const HostOptions& options = quick())
      : spec_(std::move(spec)), runner_(make_host_runner(options)) {
    runner_->prepare(spec_);
  }
  Outcome run(const std::string& source, Stage stage = Stage::screening) {
    Variant variant = baseline_variant(spec_);
    variant.source = source;
    return run(variant, stage);
  }
  Outcome run(const Variant& variant, Stage stage = Stage::screening) {
    return run(RunRequest{spec_, variant, Hash128{}, ++seed_, 0, stage});
  }
  Outcome run(const RunRequest& request) { return runner_->run(request, {}); }
  /// Still fit for work: the spec's own kernel passes.
  bool sound() { return run(baseline_variant(spec_)).status == Status::ok; }
  [[nodiscard]] const KernelSpec& spec() const { return spec_; }

 private:
  KernelSpec spec_;
  std::unique_ptr<Runner> runner_;
  std::uint64_t seed_ = 0;
};

/// The kernel of doubling() with other statements; `i` is the thread's number.
[[nodiscard]] std::string body(const std::string& statements);

/// Name of the gate that failed; empty if none.
[[nodiscard]] std::string failed_gate(const Outcome& outcome);

struct Expected {
  const char* text;
  Status status;
  const char* gate;
  const char* log;  ///< part of it
};
/// Each text ends as expected, and the runner goes on.
void check_each(Candidates& candidates, const std::vector<Expected>& rows);

}  // namespace warpath::test
