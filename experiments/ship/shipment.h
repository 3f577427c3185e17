#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/statistics.h"
#include "engine/plugin/device_facts.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"
#include "experiments/setup/best_summary.h"
#include "experiments/setup/recorded_run.h"
#include "moves/contract/contract_text.h"
#include "moves/contract/source_contract.h"

namespace warpath {

/// One of the two kernels that leave a run folder.
struct ShippedKernel {
  Variant variant;
  SourceContract contract;
  std::string source;  ///< shipped_source(): with its contract and macros
  /// The entry as it is launched ("row_sum<float, 4>"), then the kernels of its steps.
  std::vector<std::string> kernels;
  /// Names of every `__global__` function that its text defines.
  std::vector<std::string> defined;
  /// Integer and bool arguments with the value that it holds for only: compile-time ones that its
  /// text names, and those that it is launched for where the best kernel has versions.
  std::map<std::string, std::int64_t, std::less<>> compiled_in;
  std::vector<std::string> options;  ///< of the compiler, without macros
};

/// The result of a run: the best kernel with the original, and what was measured.
class Shipment {
 public:
  /// Opens a finished run. Throws Error(bad_input) if `folder` has none, if its times are made up
  /// or recorded elsewhere, or if its summary is not of its log.
  explicit Shipment(const std::filesystem::path& folder);

  /// Why the best kernel is not to be used, in one line: it is the original, it is not faster, it
  /// was not verified. Empty: it may leave the folder.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  [[nodiscard]] const RecordedRun& run() const { return run_; }
  [[nodiscard]] const KernelSpec& spec() const { return run_.spec(); }
  [[nodiscard]] const DeviceFacts& device() const { return run_.device(); }
  /// Of a kernel with versions for several sizes: the version of the primary workload.
  [[nodiscard]] const ShippedKernel& best() const { return best_; }
  [[nodiscard]] bool has_versions() const { return has_versions_; }
  [[nodiscard]] const ShippedKernel& original() const { return original_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  /// The spec's name as an identifier of C.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Those that the run's device was given.
  [[nodiscard]] const std::vector<const Workload*>& workloads() const { return workloads_; }
  /// The workload whose compile-time arguments the kernels are compiled with.
  [[nodiscard]] const Workload& primary() const { return *primary_; }
  [[nodiscard]] double speedup() const { return speedup_; }
  [[nodiscard]] const std::optional<Interval>& interval() const { return interval_; }
  /// provenance.json but for what an export adds: spec, run, seed, device, verdict, figures, path.
  [[nodiscard]] std::string provenance_json() const;

 private:
  [[nodiscard]] ShippedKernel shipped(Variant variant) const;

  std::filesystem::path folder_;
  RecordedRun run_;
  std::string name_;
  std::vector<const Workload*> workloads_;
  const Workload* primary_ = nullptr;
  BestSummary summary_;
  std::size_t node_ = 0;
  bool has_versions_ = false;
  double speedup_ = 1;
  std::optional<Interval> interval_;
  std::string refusal_;
  ShippedKernel best_, original_;
};

}  // namespace warpath
