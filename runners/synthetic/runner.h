#pragma once

#include <optional>

#include "engine/plugin/runner.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"
#include "runners/synthetic/landscape.h"

namespace warpath {

/// The spec that represents a landscape: tunables k0, k1, ... over a kernel that is never compiled.
/// Keeps the name of `spec`.
[[nodiscard]] KernelSpec landscape_spec(const KernelSpec& spec, const Landscape& landscape);

/// The point named by the tunables of a variant of landscape_spec; nullopt if one is out of range
/// (in an external proposal).
[[nodiscard]] std::optional<Landscape::Point> landscape_point(const Landscape& landscape,
                                                              const Variant& variant);

}  // namespace warpath
