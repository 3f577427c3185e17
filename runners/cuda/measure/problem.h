#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/spec/compare.h"
#include "engine/spec/spec.h"
#include "runners/cuda/driver/candidate.h"
#include "runners/cuda/measure/bench.h"
#include "runners/input_family.h"
#include "runners/reach.h"

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

/// Expected values of one written tensor, masked: a candidate that looks for it finds noise.
struct MaskedReference {
  DeviceMemory memory;
  DType dtype = DType::f64;
  MaskKey key{};
};

/// The values of one launch. Pristine copies are never handed to a kernel; by tensor.
struct InputSet {
  std::uint64_t seed = 0;
  InputFamily family = InputFamily::as_declared;
  std::string structure;  ///< FamilyChoice::label() of a structured set
  /// what is not finite may be NaN or infinite then: the order of operations decides
  Infinities infinities = Infinities::none;
  /// By tensor: results of this family over those of the declared one, in root mean squares.
  /// Empty: 1.
  std::vector<double> result_scale;
  /// By tensor: what Problem::reach found; empty before.
  mutable std::vector<Reach> reach;
  /// of the first floating-point input, against `seed`'s values
  std::int64_t changed_element = -1;
  std::vector<DeviceMemory> pristine;       ///< empty where the tensor is not read
  std::vector<MaskedReference> reference;   ///< empty where it is not written
  std::vector<DeviceDigest> digest;         ///< of `pristine`, under kDigestSeed
  [[nodiscard]] std::string label() const;  ///< "seed 1f, tiny"
};
inline constexpr std::uint64_t kDigestSeed = 0x5eed;

/// A family of inputs and how the baseline fares on it: one that it fails says nothing of others.
struct FamilyCheck {
  std::unique_ptr<InputSet> set;
  Comparison baseline;
  /// A family that the baseline cannot compute at all says nothing of a candidate.
  [[nodiscard]] bool tells() const { return classes_agree(baseline); }
  bool baseline_exact = false;  ///< every result is an integer, and the reference's
};

/// Working memory of one launch: the tensors lie between guard zones, at addresses of their own.
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
  std::vector<ParameterPlace> parameters;
  std::vector<std::unique_ptr<InputSet>> sets;  ///< the first `cuda.input_sets` as declared
  std::vector<std::unique_ptr<InputSet>> perturbed;
  std::vector<FamilyCheck> families;
  bool asked_for_perturbed = false;
  std::vector<Slot> slots;  ///< one for each declared set; the last one barely aligned
  double bytes = 0;         ///< compulsory traffic, as the spec declares it; 0: not declared
  std::map<std::string, double> operations;  ///< by type, likewise
  double floor_ns = 0;       ///< least time that the declared work can take here; 0: not known
  double launch_bytes = 0;   ///< of all tensors
  bool cold_scored = false;  ///< the time that counts is that with a flushed level-2 cache
  [[nodiscard]] bool mutates_inputs() const;  ///< an inout tensor: launches need restored inputs
  [[nodiscard]] std::size_t odd_slot() const { return slots.size() - 1; }
};

/// What a device needs to know of the spec beside itself.
struct ProblemSetup {
  KernelSpec spec;
  std::vector<std::string> workloads;  ///< names, in the candidates' order
  /// the spec's reference kernel, or its own where it has none
  std::optional<Candidate> reference;
  /// Every tensor in an allocation of exactly its size, for tools that watch allocations; no
  /// guards.
  bool exact_memory = false;
  Candidate baseline;
  std::uint64_t seed = 0;  ///< of all input sets
};

/// A spec placed on a device: inputs, references and working memory of its workloads. References
/// are computed before any candidate is loaded. Throws Error where the spec cannot be placed: no
/// memory, a reference that fails.
class Problem {
 public:
  Problem(Bench& bench, ProblemSetup setup);

  [[nodiscard]] const ProblemSetup& setup() const { return setup_; }
  [[nodiscard]] const KernelSpec& spec() const { return setup_.spec; }
  [[nodiscard]] std::size_t size() const { return placed_.size(); }
  [[nodiscard]] PlacedWorkload& at(std::size_t w) { return placed_[w]; }

  /// A declared set on a seed that nothing has used before; references are computed now.
  [[nodiscard]] std::unique_ptr<InputSet> fresh_set(std::size_t w, std::uint64_t seed);
  /// One set of every stress family, then structured ones (FamilyChoice): all of them where
  /// references are quick and memory suffices, else some. Made at the first call.
  [[nodiscard]] const std::vector<FamilyCheck>& family_checks(std::size_t w);
  /// What a correct kernel can reach on `set`, a set of family_checks, by tensor: measured with the
  /// baseline in memory of its own, at the first call.
  [[nodiscard]] const std::vector<Reach>& reach(std::size_t w, const InputSet& set);
  /// The first declared set with one element of one input changed: the first, the last and random
  /// elements. Made at the first call; empty where no input has elements that may change alone.
  [[nodiscard]] const std::vector<std::unique_ptr<InputSet>>& perturbed_sets(std::size_t w);

  /// What family_checks and perturbed_sets are expected to take at their first call, by what the
  /// declared sets took.
  [[nodiscard]] double seconds_of_other_references() const {
    return kOtherReferences * reference_seconds_;
  }

  /// The first declared set with the contents of tensor `from` in tensor `to` as well, which has
  /// its type and size.
  [[nodiscard]] std::unique_ptr<InputSet> set_with_equal(std::size_t w,
                                                         std::size_t from,
                                                         std::size_t to);

  /// The first declared set with the floating-point input `tensor` alone times 2^huge_exponent. Has
  /// no references.
  [[nodiscard]] std::unique_ptr<InputSet> scaled_set(std::size_t w, std::size_t tensor);

  /// Copies a set's inputs into a slot; outputs are left alone.
  void restore(std::size_t w, std::size_t slot, const InputSet& set);
  /// Fills the outputs of a slot (inout tensors excepted). Seeds 2k and 2k + 1 differ everywhere;
  /// floating types get NaNs.
  void poison(std::size_t w, std::size_t slot, std::uint64_t seed);
  /// New guard patterns in all zones of the workload.
  void arm_guards(std::size_t w);
  /// Judgements of gates that hold for the task, not for a candidate: made once.
  std::map<std::string, std::string, std::less<>> task_findings;

  /// True if the pristine inputs of all sets but structured ones are what they were when made.
  [[nodiscard]] bool inputs_intact();
  /// The same of one set.
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
  [[nodiscard]] std::size_t affordable_structures(double launch_ns) const;
  [[nodiscard]] std::unique_ptr<InputSet> perturbed_inputs(std::size_t w,
                                                           std::size_t tensor,
                                                           int probe);
  void make_references(std::size_t w, const std::vector<InputSet*>& sets);
  void run_reference_kernel(std::size_t w, InputSet& set);
  void digest_inputs(std::size_t w, InputSet& set);

  Bench& bench_;
  ProblemSetup setup_;
  std::vector<PlacedWorkload> placed_;
  std::vector<LoadedKernel> reference_kernels_;
  static constexpr double kOtherReferences = 4;  // sets beside the declared ones, by number
  double reference_seconds_ = 0;
};

}  // namespace warpath::cuda
