#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/spec/compare.h"
#include "engine/spec/parameters.h"
#include "engine/spec/spec.h"
#include "runners/cuda/code/ptx_rounding.h"
#include "runners/cuda/driver/candidate.h"
#include "runners/cuda/measure/bench.h"
#include "runners/inputs/input_choices.h"
#include "runners/inputs/reach.h"

namespace warpath::cuda {

/// A tensor argument under one workload.
struct TensorPlace {
  const ArgSpec* arg = nullptr;
  DType dtype = DType::f32;
  ArgRole role = ArgRole::input;
  std::vector<std::int64_t> shape;
  std::uint64_t elements = 0;
  std::size_t size_bytes = 0;
  std::size_t alignment_bytes = 16;
  [[nodiscard]] bool is_read() const { return role != ArgRole::output; }
  [[nodiscard]] bool is_written() const { return role != ArgRole::input; }
};

/// One parameter of the kernel: a tensor's address or a scalar's bytes.
struct ParameterPlace {
  std::size_t tensor = 0;  ///< index among the tensors, if `bytes` is empty
  std::vector<std::byte> bytes;
};

/// Expected values of one written tensor, masked so that a candidate searching memory finds noise.
struct MaskedReference {
  DeviceMemory memory;
  DType dtype = DType::f64;
  MaskKey key{};
};

/// The baseline's result on a family of inputs.
struct FamilyBaseline {
  Comparison result;
  /// False if the baseline cannot compute the family; a candidate is then not judged by it.
  [[nodiscard]] bool tells() const {
    return classes_agree(result) && keeps_class &&
           (keeps_range.empty() || std::ranges::find(keeps_range, true) != keeps_range.end());
  }
  /// A candidate is judged by what it makes of this tensor.
  [[nodiscard]] bool judges(std::size_t tensor) const {
    return keeps_range.empty() || keeps_range[tensor];
  }
  /// Which results are finite does not depend on the last place of inputs, as far as Problem::reach
  /// has seen.
  bool keeps_class = true;
  /// Of families near an end of the range, by tensor: it is written, and no step to it leaves the
  /// range (stay_in_range()). Empty: of another family.
  std::vector<bool> keeps_range{};
  bool is_exact = false;  ///< every result is an integer equal to the reference's
};

/// The values of one launch, by tensor. Kernels never get the pristine copies.
struct InputSet {
  std::uint64_t seed = 0;
  InputFamily family = InputFamily::as_declared;
  int form = 0;  ///< FamilyRule::form
  /// Scalars that differ from the workload's: the kernel's parameters in place of those of
  /// PlacedWorkload; empty: none do.
  std::vector<ParameterPlace> parameters;
  std::string form_label;  ///< FamilyChoice::label() of a family with several forms
  /// where non-finite results may be NaN or infinite, depending on the order of operations
  Infinities infinities = Infinities::none;
  /// By tensor: root mean square of this family's results over that of the declared one. Empty: 1.
  std::vector<double> result_scale;
  /// By tensor: the result of Problem::reach; empty before.
  mutable std::vector<Reach> reach;
  mutable bool class_varies = false;               ///< Problem::reach saw results of a wrong class
  mutable std::optional<FamilyBaseline> baseline;  ///< as Problem::baseline_on has found it
  /// in the first floating-point input, relative to the values of `seed`
  std::int64_t changed_element = -1;
  std::vector<DeviceMemory> pristine;       ///< empty if the tensor is not read
  std::vector<MaskedReference> reference;   ///< empty if it is not written
  std::vector<DeviceDigest> digest;         ///< of `pristine`, under kDigestSeed
  [[nodiscard]] std::string label() const;  ///< "seed 1f, tiny"
};
inline constexpr std::uint64_t kDigestSeed = 0x5eed;

/// A tensor's values at an address of the device.
[[nodiscard]] Tensor download(const DriverApi& api, const TensorPlace& place, CUdeviceptr from);

/// Working memory of one launch: the tensors lie between guard zones, at addresses unique to the
/// slot.
///
///   | zone | tensor 0 | zone | tensor 1 | zone |
struct Slot {
  struct Zone {
    CUdeviceptr address = 0;
    std::size_t size_bytes = 0;
  };
  std::vector<DeviceMemory> memory;
  std::vector<CUdeviceptr> tensors;
  std::vector<Zone> zones;
  std::uint64_t guard_seed = 0;
};

/// A workload on a device.
struct PlacedWorkload {
  const Workload* workload = nullptr;
  std::vector<TensorPlace> tensors;
  std::vector<ParameterPlace> parameters;       ///< by argument
  std::vector<ParameterLayout> structs;         ///< the kernel's parameters, if some are structs
  std::vector<std::unique_ptr<InputSet>> sets;  ///< the first `cuda.input_sets` as declared
  std::vector<std::unique_ptr<InputSet>> perturbed;
  std::vector<std::unique_ptr<InputSet>> families;
  bool asked_for_perturbed = false;
  std::vector<Slot> slots;  ///< one per declared set; the last one minimally aligned
  double bytes = 0;         ///< compulsory traffic declared by the spec; 0: not declared
  std::map<std::string, double> operations;  ///< by type, likewise
  double floor_ns = 0;       ///< least time for the declared work on this device; 0: unknown
  double launch_bytes = 0;   ///< of all tensors
  bool cold_scored = false;  ///< the time with a flushed level-2 cache counts
  /// True if a tensor is inout: launches need restored inputs.
  [[nodiscard]] bool mutates_inputs() const;
  [[nodiscard]] std::size_t odd_slot() const { return slots.size() - 1; }
};

/// What a device needs to know besides the spec.
struct ProblemSetup {
  KernelSpec spec;
  std::vector<std::string> workloads;  ///< names, in the candidates' order
  /// the spec's reference kernel or, without one, its own kernel
  std::optional<Candidate> reference;
  /// Puts every tensor in an allocation of exactly its size, without guards, for memory checkers.
  bool exact_memory = false;
  Candidate baseline;
  std::uint64_t seed = 0;  ///< of all input sets
};

/// A spec placed on a device: inputs, references and working memory of its workloads. References
/// are computed before any candidate is loaded. Throws Error if the spec cannot be placed: out of
/// memory, a failing reference.
class Problem {
 public:
  Problem(Bench& bench, ProblemSetup setup);

  [[nodiscard]] const ProblemSetup& setup() const { return setup_; }
  [[nodiscard]] const KernelSpec& spec() const { return setup_.spec; }
  [[nodiscard]] std::size_t size() const { return placed_.size(); }
  [[nodiscard]] PlacedWorkload& at(std::size_t w) { return placed_[w]; }

  /// A declared set from an unused seed; computes its references.
  [[nodiscard]] std::unique_ptr<InputSet> fresh_set(std::size_t w, std::uint64_t seed);
  /// One set per stress family, then structured ones (FamilyChoice): all if references are quick
  /// and memory suffices, otherwise some. Made on first use.
  [[nodiscard]] const std::vector<std::unique_ptr<InputSet>>& family_sets(std::size_t w);
  /// How the baseline fares on `set`, one of family_sets: launched in separate memory on first use.
  [[nodiscard]] const FamilyBaseline& baseline_on(std::size_t w, const InputSet& set);
  /// The reach of correct kernels on `set`, one of family_sets, by tensor: measured with the
  /// baseline in separate memory on first use.
  [[nodiscard]] const std::vector<Reach>& reach(std::size_t w, const InputSet& set);
  /// The first declared set with one element of one input changed: the first, the last and random
  /// elements. Made on first use; empty if no input has independent elements.
  [[nodiscard]] const std::vector<std::unique_ptr<InputSet>>& perturbed_sets(std::size_t w);

  /// Estimated time of the first calls of family_sets and perturbed_sets, from that of the
  /// declared sets.
  [[nodiscard]] double seconds_of_other_references() const {
    return kOtherReferences * reference_seconds_;
  }

  /// The first declared set with the contents of tensor `from` copied to tensor `to`, which has the
  /// same type and size.
  [[nodiscard]] std::unique_ptr<InputSet> set_with_equal(std::size_t w,
                                                         std::size_t from,
                                                         std::size_t to);

  /// The first declared set with only the floating-point input `tensor` multiplied by
  /// 2^huge_exponent. Has no references.
  [[nodiscard]] std::unique_ptr<InputSet> scaled_set(std::size_t w, std::size_t tensor);

  /// Copies a set's inputs into a slot; leaves outputs alone.
  void restore(std::size_t w, std::size_t slot, const InputSet& set);
  /// Fills the outputs of a slot except inout tensors: NaNs for floating types. Seeds 2k and 2k + 1
  /// differ everywhere.
  void poison(std::size_t w, std::size_t slot, std::uint64_t seed);
  /// Writes new guard patterns to all zones of the workload.
  void arm_guards(std::size_t w);
  /// Results of gates that hold for the task rather than a candidate, computed once.
  std::map<std::string, std::string, std::less<>> task_findings;

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
  /// Likewise for one set.
  [[nodiscard]] bool intact(std::size_t w, InputSet& set);

 private:
  void place(const Workload& workload);
  [[nodiscard]] Slot make_slot(const PlacedWorkload& placed, bool odd);
  [[nodiscard]] std::uint64_t structure_seed(std::uint64_t seed) const;
  [[nodiscard]] CUdeviceptr structure_of(std::size_t w,
                                         std::size_t t,
                                         InputFamily family,
                                         std::uint64_t seed) const;
  [[nodiscard]] std::unique_ptr<InputSet> make_inputs(std::size_t w,
                                                      InputFamily family,
                                                      std::uint64_t seed);
  [[nodiscard]] std::unique_ptr<InputSet> make_inputs(std::size_t w,
                                                      const FamilyChoice& choice,
                                                      std::uint64_t seed);
  [[nodiscard]] std::vector<ParameterPlace> parameters_on(const FamilyChoice& choice,
                                                          const PlacedWorkload& placed) const;
  [[nodiscard]] std::size_t affordable_sets(double seconds, double share, std::size_t least) const;
  [[nodiscard]] std::vector<bool> keeps_range(std::size_t w, const InputSet& set, const Slot& slot);
  void place_inputs(std::size_t w, const Slot& slot, const InputSet& set);
  [[nodiscard]] std::unique_ptr<InputSet> perturbed_inputs(std::size_t w,
                                                           std::size_t tensor,
                                                           int probe);
  void make_references(std::size_t w, const std::vector<InputSet*>& sets);
  void compute_reference(std::size_t w, InputSet& set) const;
  void run_reference_kernel(std::size_t w, InputSet& set);
  [[nodiscard]] bool reference_is_kernel() const {
    return std::holds_alternative<ReferenceKernel>(spec().reference) ||
           std::holds_alternative<std::monostate>(spec().reference);
  }
  [[nodiscard]] const Candidate& reference_kernel() const {
    return setup_.reference ? *setup_.reference : setup_.baseline;
  }
  /// Raises `reach` to what the reference kernel's results move by when it rounds in `direction`.
  /// Launches it in `slot`.
  void extend_to_reference(std::size_t w,
                           const InputSet& set,
                           const Slot& slot,
                           const std::vector<Tolerance>& tolerances,
                           PtxRounding direction,
                           std::vector<Reach>& reach);
  void digest_inputs(std::size_t w, InputSet& set);

  Bench& bench_;
  ProblemSetup setup_;
  std::vector<PlacedWorkload> placed_;
  std::vector<LoadedKernel> reference_kernels_;
  static constexpr double kOtherReferences = 4;  // times the number of declared sets
  double reference_seconds_ = 0;
};

}  // namespace warpath::cuda
