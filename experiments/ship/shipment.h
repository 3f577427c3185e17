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

/// A kernel that leaves a run folder.
struct ShippedKernel {
  /// In names of files and functions: "best", "best_1", "best_2", "original".
  std::string name;
  Hash128 key;             ///< of the variant that was measured
  bool by_finals = false;  ///< the finals judged and timed it; otherwise the search alone did
  Variant variant;
  const Workload* workload = nullptr;  ///< whose compile-time arguments it is compiled with
  SourceContract contract;
  std::string source;  ///< shipped_source(): with its contract and macros
  /// The entry as it is launched ("row_sum<float, 4>"), then the kernels of its steps.
  std::vector<std::string> kernels;
  /// Names of every `__global__` function that its text defines.
  std::vector<std::string> defined;
  /// Integer and bool arguments with the value that it holds for only: compile-time ones that its
  /// text names, and those that it is launched for where it is not for all sizes.
  std::map<std::string, std::int64_t, std::less<>> compiled_in;
  std::vector<std::string> options;  ///< of the compiler, without macros
  /// Integer arguments whose values its machine code takes for multiples of 16.
  std::vector<std::string> multiples_of_16;
};

/// The result of a run: what may be launched in the place of the original, with the original, and
/// what was measured.
class Shipment {
 public:
  enum class Of : std::uint8_t {
    best,       ///< the best kernel alone
    portfolio,  ///< those of portfolio.json; the best alone where the run has none
  };

  /// Opens a finished run. Throws Error(bad_input) if `folder` has none, if its times are made up
  /// or recorded elsewhere, or if its summary or portfolio is not of its log.
  explicit Shipment(const std::filesystem::path& folder, Of of = Of::best);

  /// Why the best kernel is not to be used, in one line: it is the original, it is not faster, it
  /// was not verified. Empty: it may leave the folder.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  [[nodiscard]] const RecordedRun& run() const { return run_; }
  [[nodiscard]] const KernelSpec& spec() const { return run_.spec(); }
  [[nodiscard]] const DeviceFacts& device() const { return run_.device(); }
  /// In the order in which they are tried: the first that holds for the arguments is launched. The
  /// original is the last. Empty if the shipment is refused.
  [[nodiscard]] const std::vector<ShippedKernel>& kernels() const { return kernels_; }
  /// The first of them. Of a kernel with versions for several sizes, shipped alone: the version of
  /// the primary workload.
  [[nodiscard]] const ShippedKernel& best() const { return kernels_.front(); }
  [[nodiscard]] bool has_versions() const { return has_versions_; }
  [[nodiscard]] const ShippedKernel& original() const { return kernels_.back(); }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  /// The spec's name as an identifier of C.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Those that the run's device was given.
  [[nodiscard]] const std::vector<const Workload*>& workloads() const { return workloads_; }
  /// The first scored workload: the original is compiled with its compile-time arguments.
  [[nodiscard]] const Workload& primary() const { return *primary_; }
  /// Of the best kernel by the finals; of a portfolio by the times that it was chosen with, without
  /// an interval.
  [[nodiscard]] double speedup() const { return speedup_; }
  [[nodiscard]] const std::optional<Interval>& interval() const { return interval_; }
  /// provenance.json but for what an export adds: spec, run, seed, device, verdict, figures, path.
  [[nodiscard]] std::string provenance_json() const;

 private:
  void add_best();
  void add_portfolio();
  void add_assumptions(const Workload& workload, const Variant& variant, ShippedKernel& out) const;
  [[nodiscard]] ShippedKernel shipped(Variant variant,
                                      std::size_t node,
                                      const Workload& workload) const;

  std::filesystem::path folder_;
  RecordedRun run_;
  std::string name_;
  std::vector<const Workload*> workloads_;
  const Workload* primary_ = nullptr;
  BestSummary summary_;
  std::size_t node_ = 0;
  bool has_versions_ = false, of_portfolio_ = false;
  double speedup_ = 1;
  std::optional<Interval> interval_;
  std::string refusal_;
  std::vector<ShippedKernel> kernels_;
};

}  // namespace warpath
