#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/base/hash.h"
#include "engine/spec/launch.h"
#include "engine/spec/spec.h"

namespace warpath {

using TunableValues = std::map<std::string, std::int64_t, std::less<>>;

/// Device memory of a variant's own. Its contents are unknown when a launch begins: runners fill it
/// with noise.
struct ScratchBuffer {
  std::string name;          ///< not that of an argument of the spec
  Expression size_bytes{0};  ///< over scalar arguments and tunables
  bool operator==(const ScratchBuffer&) const = default;
};

/// What is done around the main launch, in stream order: a part of every launch that is verified or
/// timed.
struct LaunchStep {
  enum class Kind : std::uint8_t {
    zero,    ///< sets all bytes of `arguments` to 0: outputs and scratch buffers
    kernel,  ///< launches another kernel
  };
  Kind kind = Kind::zero;
  std::string kernel_name;  ///< kernel: an `extern "C"` entry of the same source
  LaunchPlan launch;        ///< kernel
  /// kernel: those of the spec and scratch buffers, as its parameters stand; by name
  std::vector<std::string> arguments;
  bool operator==(const LaunchStep&) const = default;
};

/// Most scratch buffers, and most steps before and behind the main launch, of a variant.
inline constexpr std::size_t kMaxExtras = 16;

/// A kernel that can be built and run: everything that may differ from the spec's own kernel.
/// Immutable once it has a key; equal content is one node of the graph.
struct Variant {
  std::string source;       ///< whole CUDA C++ translation unit
  std::string kernel_name;  ///< entry, or the name expression to instantiate
  LaunchPlan launch;
  std::vector<std::string> compiler_options;
  TunableValues tunables;
  /// the kernel gets their addresses behind the spec's arguments, in this order
  std::vector<ScratchBuffer> scratch{};
  std::vector<LaunchStep> before{}, after{};  ///< the main launch
  [[nodiscard]] bool has_extras() const {
    return !scratch.empty() || !before.empty() || !after.empty();
  }
  bool operator==(const Variant&) const = default;
};

/// The variant that the spec describes, all tunables at their defaults: the root of the search.
[[nodiscard]] Variant baseline_variant(const KernelSpec& spec);

/// Level-0 key: hash of the normalised token stream (comments, white space and names of locals do
/// not count), the launch plan, the options and the tunables. Equal keys = the same kernel; see
/// engine/text/source_key.h.
[[nodiscard]] Hash128 variant_key(const Variant& variant);

/// The plan that launches `variant` for `workload`: the workload's own plan as long as the
/// variant's is the spec's, otherwise the variant's (a move that changed the plan changed it for
/// every workload).
[[nodiscard]] const LaunchPlan& launch_for(const KernelSpec& spec,
                                           const Variant& variant,
                                           const Workload& workload);

/// A step under one workload.
struct StepNumbers {
  LaunchStep::Kind kind = LaunchStep::Kind::zero;
  std::string kernel_name;
  LaunchNumbers launch;
  /// As in LaunchStep: an argument's place among those that the kernel receives (meta scalars and
  /// texts left out), or behind them a scratch buffer's.
  std::vector<std::uint32_t> arguments;
  bool operator==(const StepNumbers&) const = default;
};
/// What a variant does besides its main launch, under one workload.
struct ExtraNumbers {
  std::vector<std::int64_t> scratch_bytes;
  std::vector<StepNumbers> before, after;
  bool operator==(const ExtraNumbers&) const = default;
};
/// Throws Error(bad_input) where an expression fails, a name is unknown or used twice, a step
/// zeroes what is not to be written, or there are too many of something; with CUDA's limits on
/// launches unchecked.
[[nodiscard]] ExtraNumbers extra_numbers(const KernelSpec& spec,
                                         const Variant& variant,
                                         const Workload& workload);
/// Names of the kernels of all steps, each once, in order.
[[nodiscard]] std::vector<std::string> step_kernels(const Variant& variant);

/// True if all constraints of `spec` hold for every workload and the launch numbers are within
/// CUDA's limits; otherwise false with one line in `why`.
[[nodiscard]] bool satisfies_constraints(const KernelSpec& spec,
                                         const Variant& variant,
                                         std::string& why);

}  // namespace warpath
