#include "engine/spec/variant_patch.h"

#include <algorithm>

namespace warpath {
namespace {

VariantPatch changes(const Variant& parent, const Variant& child, bool with_source) {
  const auto changed = [&](auto member) {
    return parent.*member == child.*member ? std::nullopt : std::optional(child.*member);
  };
  return {.source = with_source ? changed(&Variant::source) : std::nullopt,
          .kernel_name = changed(&Variant::kernel_name),
          .launch = changed(&Variant::launch),
          .compiler_options = changed(&Variant::compiler_options),
          .tunables = changed(&Variant::tunables),
          .scratch = changed(&Variant::scratch),
          .before = changed(&Variant::before),
          .after = changed(&Variant::after)};
}

}  // namespace

VariantPatch patch_between(const Variant& parent, const Variant& child) {
  return changes(parent, child, true);
}

Variant patched(Variant parent, const VariantPatch& patch) {
  if (patch.source) parent.source = *patch.source;
  if (patch.kernel_name) parent.kernel_name = *patch.kernel_name;
  if (patch.launch) parent.launch = *patch.launch;
  if (patch.compiler_options) parent.compiler_options = *patch.compiler_options;
  if (patch.tunables) parent.tunables = *patch.tunables;
  if (patch.scratch) parent.scratch = *patch.scratch;
  if (patch.before) parent.before = *patch.before;
  if (patch.after) parent.after = *patch.after;
  return parent;
}

VariantEdit edit_between(const Variant& parent, const Variant& child) {
  const std::string &a = parent.source, &b = child.source;
  const std::size_t shorter = std::min(a.size(), b.size());
  const auto begin = static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(shorter), b.begin()).first -
      a.begin());
  std::size_t tail = 0;
  while (tail < shorter - begin && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  return {.begin = begin,
          .removed = a.size() - tail - begin,
          .inserted = b.substr(begin, b.size() - tail - begin),
          .rest = changes(parent, child, false)};
}

Variant edited(Variant parent, const VariantEdit& edit) {
  parent.source.replace(edit.begin, edit.removed, edit.inserted);
  return patched(std::move(parent), edit.rest);
}

}  // namespace warpath
