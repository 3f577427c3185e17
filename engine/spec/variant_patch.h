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
  std::optional<Bindings> when{};
  /// All versions of the child, each relative to that of the parent at its place or, if the parent
  /// has another number of versions, to the parent's kernel itself.
  std::optional<std::vector<VariantPatch>> versions{};
  bool operator==(const VariantPatch&) const = default;
};
[[nodiscard]] VariantPatch patch_between(const Variant& parent, const Variant& child);
/// patched(a, patch_between(a, b)) == b.
[[nodiscard]] Variant patched(Variant parent, const VariantPatch& patch);

/// The same with the source as an edit of the parent's: compact storage for many variants of which
/// few are ever materialised.
struct VariantEdit {
  std::size_t begin = 0;                               ///< in the parent's source, bytes
  std::size_t removed = 0;                             ///< bytes from there on
  std::string inserted;                                ///< in their place
  VariantPatch rest;                                   ///< without the source and versions
  std::optional<std::vector<VariantEdit>> versions{};  ///< as in VariantPatch
  bool operator==(const VariantEdit&) const = default;
};
[[nodiscard]] VariantEdit edit_between(const Variant& parent, const Variant& child);
/// edited(a, edit_between(a, b)) == b. `edit` must have been made for `parent` or at least be
/// within its source.
[[nodiscard]] Variant edited(Variant parent, const VariantEdit& edit);
/// `edit` is within the sources of `parent` and its versions.
[[nodiscard]] bool fits(const Variant& parent, const VariantEdit& edit);

}  // namespace warpath
