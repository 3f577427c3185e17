#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/spec/spec.h"
#include "engine/spec/variant.h"
#include "runners/host/compile/compile.h"
#include "runners/host/execute/worker_client.h"
#include "runners/host/judge/inputs.h"
#include "runners/inputs/input_choices.h"
#include "runners/inputs/reach.h"

/// Judges kernels on every family of inputs as the gates of a device do, on the host's executor:
/// same families, same reference, same reach of the baseline.
class StressBench {
 public:
  /// `spec`: with a workload for the host. Of structured families at most `structures`, from number
  /// `first` on (spread()). Throws Error where baseline or reference do not compile.
  explicit StressBench(const warpath::KernelSpec& spec,
                       std::size_t structures = 1000,
                       std::uint64_t first = 0);

  /// What a family found of a kernel.
  struct Finding {
    std::string family;
    bool passed = true;
    std::string detail;
  };
  /// One finding a family that tells, the declared inputs first. A kernel that cannot be run has
  /// one finding that failed.
  [[nodiscard]] std::vector<Finding> judge(const warpath::Variant& variant);

 private:
  struct Family {
    std::string name;
    warpath::host::InputSet inputs;
    std::map<std::string, warpath::Tolerance> tolerance;  ///< by output
    bool is_declared = false;
    warpath::Infinities infinities = warpath::Infinities::none;
    std::optional<std::map<std::string, warpath::Reach>> reach;
  };
  [[nodiscard]] std::string object(const warpath::Variant& variant, std::string& why);
  /// Empty on failure, which `why` tells.
  [[nodiscard]] warpath::TensorMap run(const std::string& object,
                                       const warpath::LaunchPlan& plan,
                                       const warpath::Variant& variant,
                                       const warpath::host::InputSet& inputs,
                                       std::string& why,
                                       warpath::host::Rounding rounding = {});
  [[nodiscard]] warpath::TensorMap expected(const warpath::host::InputSet& inputs);
  [[nodiscard]] const std::map<std::string, warpath::Reach>& reach(Family& family);
  void apply(const warpath::FamilyChoice& choice,
             warpath::host::InputSet& inputs,
             std::uint64_t seed) const;
  void add_family(const warpath::FamilyChoice& choice);

  warpath::KernelSpec spec_;
  const warpath::Workload* workload_ = nullptr;
  warpath::host::Compiler compiler_;
  warpath::host::WorkerClient worker_;
  warpath::Variant baseline_, reference_;
  std::string baseline_object_, reference_object_;
  std::vector<Family> families_;
};
