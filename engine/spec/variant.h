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

/// Device memory private to a variant. Its contents are undefined at the start of a launch: runners
/// fill it with noise.
struct ScratchBuffer {
  std::string name;          ///< must differ from the spec's arguments
  Expression size_bytes{0};  ///< over scalar arguments and tunables
  bool operator==(const ScratchBuffer&) const = default;
};

/// An operation before or after the main launch, in stream order: part of every verified or timed
/// launch.
struct LaunchStep {
  enum class Kind : std::uint8_t {
    zero,    ///< sets all bytes of `arguments` to 0: outputs and scratch buffers
    kernel,  ///< launches another kernel
  };
  Kind kind = Kind::zero;
  std::string kernel_name;  ///< kernel: an `extern "C"` entry of the same source
  LaunchPlan launch;        ///< kernel
  /// kernel: names of spec arguments and scratch buffers, in the order of its parameters
  std::vector<std::string> arguments;
  bool operator==(const LaunchStep&) const = default;
};

/// Maximum number of scratch buffers of a variant, and of its steps.
inline constexpr std::size_t kMaxExtras = 16;

/// A kernel that can be built and run: everything that may differ from the spec's own kernel.
/// Immutable once it has a key; equal variants are one node of the graph.
struct Variant {
  std::string source;       ///< whole CUDA C++ translation unit
  std::string kernel_name;  ///< entry, or the name expression to instantiate
  LaunchPlan launch;
  std::vector<std::string> compiler_options;
  TunableValues tunables;
  /// their addresses are passed after the spec's arguments, in this order
  std::vector<ScratchBuffer> scratch{};
  std::vector<LaunchStep> before{}, after{};  ///< the main launch
  /// Values of integer and bool arguments that this kernel is launched for, by name; empty: any.
  Bindings when{};
  /// Where the kernel's `when` does not hold, the first of these whose `when` does is launched
  /// instead. Empty, or the last one holds for any size: the general kernel. None has versions of
  /// its own.
  std::vector<Variant> versions{};
  [[nodiscard]] bool has_extras() const {
    return !scratch.empty() || !before.empty() || !after.empty();
  }
  bool operator==(const Variant&) const = default;
};

/// The variant described by the spec, with all tunables at their defaults: the root of the search.
[[nodiscard]] Variant baseline_variant(const KernelSpec& spec);

/// Level-0 key: hash of the normalised token stream (without comments, white space and names of
/// locals), the launch plan, the options and the tunables, of every version. Equal keys mean the
/// same kernel; see engine/text/source_key.h.
[[nodiscard]] Hash128 variant_key(const Variant& variant);

/// The sizes of `workload` are those that `variant` itself is launched for.
[[nodiscard]] bool serves(const KernelSpec& spec, const Variant& variant, const Workload& workload);
/// The kernel that is launched for `workload`: the variant itself or one of its versions.
/// Everything below that takes a variant and a workload means that kernel, not the others.
[[nodiscard]] const Variant& version_for(const KernelSpec& spec,
                                         const Variant& variant,
                                         const Workload& workload);
/// The kernel itself and its versions, in the order in which they are tried.
[[nodiscard]] std::vector<const Variant*> kernels_of(const Variant& variant);
/// The kernel itself for any size, without its versions.
[[nodiscard]] Variant alone(Variant variant);
/// "N = 512 and C = 256"; "any size" if it is empty.
[[nodiscard]] std::string condition_text(const Bindings& when);

/// The plan that launches `variant` for `workload`: the workload's own plan if the variant's equals
/// the spec's, otherwise the variant's (a move that changes the plan changes it for every
/// workload).
[[nodiscard]] const LaunchPlan& launch_for(const KernelSpec& spec,
                                           const Variant& variant,
                                           const Workload& workload);

/// A step under one workload.
struct StepNumbers {
  LaunchStep::Kind kind = LaunchStep::Kind::zero;
  std::string kernel_name;
  LaunchNumbers launch;
  /// As in LaunchStep: index of a kernel argument (not counting meta scalars and texts) or, after
  /// those, of a scratch buffer.
  std::vector<std::uint32_t> arguments;
  bool operator==(const StepNumbers&) const = default;
};
/// The steps of a variant and its scratch memory under one workload.
struct ExtraNumbers {
  std::vector<std::int64_t> scratch_bytes;
  std::vector<StepNumbers> before, after;
  bool operator==(const ExtraNumbers&) const = default;
};
/// Throws Error(bad_input) if an expression cannot be evaluated, a name is unknown or used twice, a
/// step zeroes a read-only argument, or a number exceeds its maximum. Does not check CUDA's launch
/// limits.
[[nodiscard]] ExtraNumbers extra_numbers(const KernelSpec& spec,
                                         const Variant& variant,
                                         const Workload& workload);
/// Names of the kernels of all steps, in order, without duplicates.
[[nodiscard]] std::vector<std::string> step_kernels(const Variant& variant);

/// True if every workload satisfies all constraints of `spec` and CUDA's launch limits with the
/// version that serves it; otherwise false with one line in `why`. Workloads that none serves are
/// not considered.
[[nodiscard]] bool satisfies_constraints(const KernelSpec& spec,
                                         const Variant& variant,
                                         std::string& why);

}  // namespace warpath
