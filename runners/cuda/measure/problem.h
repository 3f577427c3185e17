#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runners/cuda/measure/input_sets.h"

namespace warpath::cuda {

/// A spec placed on a device: inputs, references and working memory of its workloads. References
/// are computed before any candidate is loaded. Throws Error if the spec cannot be placed: out of
/// memory, a failing reference.
class Problem {
 public:
  Problem(Bench& bench, ProblemSetup setup);

  Problem(const Problem&) = delete;  // its input sets refer to its setup
  Problem& operator=(const Problem&) = delete;
  ~Problem() = default;

  [[nodiscard]] Bench& bench() { return bench_; }
  [[nodiscard]] const ProblemSetup& setup() const { return setup_; }
  [[nodiscard]] InputSets& inputs() { return inputs_; }
  [[nodiscard]] const KernelSpec& spec() const { return setup_.spec; }
  [[nodiscard]] std::size_t size() const { return placed_.size(); }
  [[nodiscard]] PlacedWorkload& at(std::size_t w) { return placed_[w]; }

  /// One set per stress family, then structured ones (FamilyChoice): all if references are quick
  /// and memory suffices, otherwise some. Made on first use.
  [[nodiscard]] const std::vector<std::unique_ptr<InputSet>>& family_sets(std::size_t w);
  /// The first declared set with one element of one input changed: the first, the last and random
  /// elements. Made on first use; empty if no input has independent elements.
  [[nodiscard]] const std::vector<std::unique_ptr<InputSet>>& perturbed_sets(std::size_t w);

  /// Estimated time of the first calls of family_sets and perturbed_sets, from that of the
  /// declared sets.
  [[nodiscard]] double seconds_of_other_references() const {
    return kOtherReferences * reference_seconds_;
  }

  /// Copies a set's inputs into a slot; leaves outputs alone.
  void restore(std::size_t w, std::size_t slot, const InputSet& set);
  /// Fills the outputs of a slot except inout tensors: NaNs for floating types. Seeds 2k and 2k + 1
  /// differ everywhere.
  void poison(std::size_t w, std::size_t slot, std::uint64_t seed);
  /// Writes new guard patterns to all zones of the workload.
  void arm_guards(std::size_t w);
  /// Results of gates that hold for the task rather than a candidate, computed once.
  std::map<std::string, std::string, std::less<>> task_findings;
  /// See gates/declared_work.h; empty until it is asked for.
  std::optional<double> moved_share_of_declared;

  /// Calls `launch` while the workload's parameters are those of `set`. Parameters are copied when
  /// a launch is enqueued.
  template <class Launch>
  auto with_scalars_of(std::size_t w, const InputSet& set, const Launch& launch) {
    struct Swapped {
      std::vector<ParameterPlace>& now;
      std::vector<ParameterPlace> before;
      ~Swapped() { now.swap(before); }
    };
    if (set.parameters.empty()) return launch();
    Swapped swapped{placed_[w].parameters, set.parameters};
    swapped.now.swap(swapped.before);
    return launch();
  }

  /// True if the pristine inputs of all sets except structured ones are unchanged.
  [[nodiscard]] bool inputs_intact();

 private:
  void fill(std::size_t w);
  [[nodiscard]] std::size_t affordable_sets(double seconds, double share, std::size_t least) const;

  Bench& bench_;
  const ProblemSetup setup_;
  InputSets inputs_;
  std::vector<PlacedWorkload> placed_;
  static constexpr double kOtherReferences = 4;  // times the number of declared sets
  double reference_seconds_ = 0;
};

}  // namespace warpath::cuda
