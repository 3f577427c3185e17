#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/spec/launch.h"
#include "engine/spec/parameters.h"
#include "engine/spec/spec.h"
#include "engine/spec/tensor.h"
#include "engine/spec/variant.h"
#include "runners/host/execute/worker_protocol.h"
#include "runners/inputs/arguments.h"
#include "runners/inputs/reach.h"
#include "runners/reference/reference.h"

namespace warpath::host {

/// Bounds for an output on inputs that the spec's tolerance was not written for.
struct Allowance {
  Tolerance tolerance;
  Reach reach{};
};

/// The values of one launch: a workload's tensors under one seed. Expected outputs never leave this
/// process.
struct InputSet {
  std::uint64_t seed = 0;
  TensorMap tensors;   ///< input and inout, by name
  ScalarMap scalars;   ///< numeric scalars, meta ones included
  TensorMap expected;  ///< output and inout, by name
  std::string family;  ///< description of special values; empty: as declared
  /// where non-finite results may be NaN or infinite, depending on the order of operations
  Infinities infinities = Infinities::none;
  std::map<std::string, Allowance> allowances{};  ///< by output; replace the spec's tolerance
  std::set<std::string> unjudged{};  ///< outputs that kernels are not held to on these inputs
};

/// Tensors and scalars of `workload`; leaves `expected` empty. Throws Error(bad_input).
[[nodiscard]] InputSet make_inputs(const KernelSpec& spec,
                                   const Workload& workload,
                                   std::uint64_t seed);

/// The kernel's arguments in order, in the form a worker binds; meta scalars are left out.
[[nodiscard]] std::vector<BoundArgument> bound_arguments(const KernelSpec& spec,
                                                         const Workload& workload,
                                                         const InputSet& inputs);
/// The parameters of the kernel if some are structs; otherwise empty: each argument is one.
[[nodiscard]] std::vector<ParameterLayout> struct_parameters(const KernelSpec& spec);

/// The macros a kernel is compiled with under `workload`: meta scalars, then tunables, then the -D
/// of `options`. Options without meaning on the host are ignored; `refused` is the first one that
/// is not allowed.
struct Macros {
  std::map<std::string, std::string, std::less<>> text;
  std::map<std::string, std::int64_t, std::less<>> integers;
  std::string refused;
  auto operator<=>(const Macros&) const = default;
};
[[nodiscard]] Macros macros_for(const KernelSpec& spec,
                                const Workload& workload,
                                const TunableValues& tunables,
                                const std::vector<std::string>& options);

}  // namespace warpath::host
