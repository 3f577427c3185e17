#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "runners/host/compile.h"
#include "runners/host/inputs.h"

namespace warpath::host {

/// What candidates are timed in turn with, compiled and kept: the spec's own kernel, and others
/// that requests name. Thread-safe.
class Baseline {
 public:
  Baseline(const KernelSpec& spec, const Compiler& compiler);

  [[nodiscard]] const Variant& variant() const { return variant_; }
  /// The object of `variant` (the spec's own, or another one) for `workload`, compiled at the first
  /// call; empty if it does not compile.
  [[nodiscard]] std::string object(const Variant& variant, const Workload& workload);

 private:
  const KernelSpec spec_;
  const Compiler& compiler_;
  const Variant variant_;
  std::mutex mutex_;
  std::map<std::pair<Hash128, Macros>, std::string> objects_;
};

}  // namespace warpath::host
