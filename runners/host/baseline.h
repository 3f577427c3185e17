#pragma once

#include <map>
#include <mutex>
#include <string>

#include "runners/host/compile.h"
#include "runners/host/inputs.h"

namespace warpath::host {

/// The spec's own kernel, compiled and kept, so that every candidate is timed in turn with it.
/// Thread-safe.
class Baseline {
 public:
  Baseline(const KernelSpec& spec, const Compiler& compiler);

  [[nodiscard]] const Variant& variant() const { return variant_; }
  /// Its object for `workload`, compiled at the first call; empty if it does not compile.
  [[nodiscard]] std::string object(const Workload& workload);

 private:
  const KernelSpec spec_;
  const Compiler& compiler_;
  const Variant variant_;
  std::mutex mutex_;
  std::map<Macros, std::string> objects_;
};

}  // namespace warpath::host
