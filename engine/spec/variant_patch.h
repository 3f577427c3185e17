#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/spec/variant.h"

namespace warpath {

/// The changes of a variant relative to its parent; unchanged members are absent.
struct VariantPatch {
  std::optional<std::string> source;
  std::optional<std::string> kernel_name;
  std::optional<LaunchPlan> launch;
  std::optional<std::vector<std::string>> compiler_options;
  std::optional<TunableValues> tunables;
  std::optional<std::vector<ScratchBuffer>> scratch{};
  std::optional<std::vector<LaunchStep>> before{}, after{};
  bool operator==(const VariantPatch&) const = default;
};
[[nodiscard]] VariantPatch patch_between(const Variant& parent, const Variant& child);
/// patched(a, patch_between(a, b)) == b.
[[nodiscard]] Variant patched(Variant parent, const VariantPatch& patch);

/// The same with the source as an edit of the parent's: compact storage for many variants of which
/// few are ever materialised.
struct VariantEdit {
  std::size_t begin = 0;    ///< in the parent's source, bytes
  std::size_t removed = 0;  ///< bytes from there on
  std::string inserted;     ///< in their place
  VariantPatch rest;        ///< without the source
  bool operator==(const VariantEdit&) const = default;
};
[[nodiscard]] VariantEdit edit_between(const Variant& parent, const Variant& child);
/// edited(a, edit_between(a, b)) == b. `edit` must have been made for `parent` or at least be
/// within its source.
[[nodiscard]] Variant edited(Variant parent, const VariantEdit& edit);

}  // namespace warpath
