#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/spec/compare.h"
#include "engine/spec/parameters.h"
#include "engine/spec/spec.h"
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
           (judged.empty() || std::ranges::find(judged, true) != judged.end());
  }
  /// A candidate is judged by what it makes of this tensor.
  [[nodiscard]] bool judges(std::size_t tensor) const { return judged.empty() || judged[tensor]; }
  /// Which results are finite does not depend on the last place of inputs, as far as reach_on()
  /// has seen.
  bool keeps_class = true;
  /// By tensor: it is written and, of families near an end of the range, no step to it leaves the
  /// range (stay_in_range()); of infinities beside zeros, it does not hide NaN
  /// (makes_numbers_of_nan()). Empty: of another family.
  std::vector<bool> judged{};
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
  std::vector<ResultSize> result_sizes;  ///< by tensor; empty: of the declared family
  /// By tensor: the result of reach_on(); empty before.
  mutable std::vector<Reach> reach;
  mutable bool class_varies = false;               ///< reach_on() saw results of a wrong class
  mutable std::optional<FamilyBaseline> baseline;  ///< as baseline_on() has found it
  /// in the first floating-point input, relative to the values of `seed`
  std::int64_t changed_element = -1;
  std::vector<DeviceMemory> pristine;       ///< empty if the tensor is not read
  std::vector<MaskedReference> reference;   ///< empty if it is not written
  std::vector<DeviceDigest> digest;         ///< of `pristine`, under kDigestSeed
  [[nodiscard]] std::string label() const;  ///< "seed 1f, tiny"
};
inline constexpr std::uint64_t kDigestSeed = 0x5eed;

/// Bytes of a workload's tensors up to which the host looks at them.
inline constexpr double kMostDownloaded = 0x1p29;
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
  std::size_t index = 0;  ///< in the candidates' order
  std::vector<TensorPlace> tensors;
  std::vector<ParameterPlace> parameters;       ///< by argument
  std::vector<ParameterLayout> structs;         ///< the kernel's parameters, if some are structs
  std::vector<std::unique_ptr<InputSet>> sets;  ///< the first `cuda.input_sets` as declared
  std::vector<std::unique_ptr<InputSet>> perturbed;
  std::vector<std::unique_ptr<InputSet>> families;
  bool asked_for_perturbed = false;
  std::vector<bool> keeps_nan{};  ///< by tensor; empty until a family asked for it
  std::vector<Slot> slots;        ///< one per declared set; the last one minimally aligned
  double bytes = 0;               ///< compulsory traffic declared by the spec; 0: not declared
  std::map<std::string, double> operations;  ///< by type, likewise
  double floor_ns = 0;       ///< least time for the declared work on this device; 0: unknown
  double launch_bytes = 0;   ///< of all tensors
  bool cold_scored = false;  ///< the time with a flushed level-2 cache counts
  /// True if a tensor is inout: launches need restored inputs.
  [[nodiscard]] bool mutates_inputs() const;
  /// Size of all tensors that may be written.
  [[nodiscard]] double writable_bytes() const;
  [[nodiscard]] std::size_t odd_slot() const { return slots.size() - 1; }
};

/// The arguments of a workload, without input sets and slots.
[[nodiscard]] PlacedWorkload place_workload(const KernelSpec& spec,
                                            const Workload& workload,
                                            const Bench& bench);

/// Puts every tensor between guard zones; in the odd slot at odd multiples of the declared
/// alignment.
[[nodiscard]] Slot make_slot(const DriverApi& api, const PlacedWorkload& placed, bool odd);
/// Puts every tensor in an allocation of exactly its size, without guards, for memory checkers.
[[nodiscard]] Slot make_exact_slot(const DriverApi& api, const PlacedWorkload& placed);

}  // namespace warpath::cuda
