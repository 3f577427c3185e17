#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "runners/host/compile/compile.h"
#include "runners/host/judge/inputs.h"

namespace warpath::host {

/// What candidates are timed against in alternation: the spec's own kernel and other variants that
/// requests name, compiled once. Thread-safe.
class Baseline {
 public:
  Baseline(const KernelSpec& spec, const Compiler& compiler);

  [[nodiscard]] const Variant& variant() const { return variant_; }
  /// Path of the object of `variant` (the spec's own or another one) for `workload`, compiled on
  /// first use; empty if it does not compile.
  [[nodiscard]] std::string object(const Variant& variant, const Workload& workload);

 private:
  const KernelSpec spec_;
  const Compiler& compiler_;
  const Variant variant_;
  std::mutex mutex_;
  std::map<std::pair<Hash128, Macros>, std::string> objects_;
};

}  // namespace warpath::host
