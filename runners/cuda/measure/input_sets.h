#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runners/cuda/measure/placed_workload.h"
#include "runners/cuda/measure/problem_setup.h"

namespace warpath::cuda {

/// Makes input sets of a spec's workloads and their masked references. Throws Error where memory
/// runs out or the reference fails.
class InputSets {
 public:
  /// `bench` and `setup` must outlive it.
  InputSets(Bench& bench, const ProblemSetup& setup);

  /// Without references.
  [[nodiscard]] std::unique_ptr<InputSet> make(const PlacedWorkload& placed,
                                               const FamilyChoice& choice,
                                               std::uint64_t seed);
  /// As declared, with references.
  [[nodiscard]] std::unique_ptr<InputSet> fresh(const PlacedWorkload& placed, std::uint64_t seed);
  /// As declared, with one element of a tensor changed: a random one, for probes 1 and 2 the first
  /// and the last. Without references; null if all of a sample of elements are equal.
  [[nodiscard]] std::unique_ptr<InputSet> with_one_changed(const PlacedWorkload& placed,
                                                           std::size_t tensor,
                                                           int probe);
  /// As declared, with the contents of tensor `from` copied to tensor `to`, which has the same type
  /// and size.
  [[nodiscard]] std::unique_ptr<InputSet> with_equal(const PlacedWorkload& placed,
                                                     std::size_t from,
                                                     std::size_t to);
  /// As declared, with NaN everywhere in the floating-point inputs. Has no references.
  [[nodiscard]] std::unique_ptr<InputSet> missing(const PlacedWorkload& placed);
  /// As declared, with only the floating-point input `tensor` multiplied by 2^huge_exponent. Has no
  /// references.
  [[nodiscard]] std::unique_ptr<InputSet> scaled(const PlacedWorkload& placed, std::size_t tensor);

  void make_references(const PlacedWorkload& placed, const std::vector<InputSet*>& sets);
  /// True if the pristine inputs are unchanged since they were made.
  [[nodiscard]] bool intact(const PlacedWorkload& placed, InputSet& set);

 private:
  [[nodiscard]] std::uint64_t structure_seed(std::uint64_t seed) const;
  [[nodiscard]] CUdeviceptr structure_of(const PlacedWorkload& placed,
                                         std::size_t tensor,
                                         InputFamily family,
                                         std::uint64_t seed) const;
  [[nodiscard]] std::vector<ParameterPlace> parameters_on(const FamilyChoice& choice,
                                                          const PlacedWorkload& placed) const;
  void digest(const PlacedWorkload& placed, InputSet& set);
  void compute_reference(const PlacedWorkload& placed, InputSet& set) const;
  void run_reference_kernel(const PlacedWorkload& placed, InputSet& set);
  void run_reference(const PlacedWorkload& placed, const std::vector<InputSet*>& sets);
  [[nodiscard]] Tensor reference_of(const PlacedWorkload& placed,
                                    const InputSet& set,
                                    std::size_t tensor) const;
  [[nodiscard]] std::unique_ptr<InputSet> without_outliers(const PlacedWorkload& placed,
                                                           const InputSet& set);

  Bench& bench_;
  const ProblemSetup& setup_;
  std::vector<LoadedKernel> reference_kernels_;
};

}  // namespace warpath::cuda
