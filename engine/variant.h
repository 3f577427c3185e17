#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/hash.h"
#include "engine/launch.h"
#include "engine/spec.h"

namespace warpath {

using TunableValues = std::map<std::string, std::int64_t, std::less<>>;

/// A kernel that can be built and run: everything that may differ from the spec's own kernel.
/// Immutable once it has a key; equal content is one node of the graph.
struct Variant {
  std::string source;                         ///< whole CUDA C++ translation unit
  std::string kernel_name;                    ///< entry, or the name expression to instantiate
  LaunchPlan launch;
  std::vector<std::string> compiler_options;
  TunableValues tunables;
  bool operator==(const Variant&) const = default;
};

/// The variant that the spec describes, all tunables at their defaults: the root of the search.
[[nodiscard]] Variant baseline_variant(const KernelSpec& spec);

/// Level-0 key: hash of the normalised token stream (comments, white space and names of locals do not count),
/// the launch plan, the options and the tunables. Equal keys = the same kernel; see engine/source_key.h.
[[nodiscard]] Hash128 variant_key(const Variant& variant);

/// The plan that launches `variant` for `workload`: the workload's own plan as long as the variant's is the spec's,
/// otherwise the variant's (a move that changed the plan changed it for every workload).
[[nodiscard]] const LaunchPlan& launch_for(const KernelSpec& spec, const Variant& variant, const Workload& workload);

/// True if all constraints of `spec` hold for every workload and the launch numbers are within CUDA's limits;
/// otherwise false with one line in `why`.
[[nodiscard]] bool satisfies_constraints(const KernelSpec& spec, const Variant& variant, std::string& why);

}  // namespace warpath
