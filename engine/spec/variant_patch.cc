#include "engine/spec/variant_patch.h"

#include <algorithm>

#include "engine/text/changed_text.h"

namespace warpath {
namespace {

/// What version `i` of a child with `count` versions is relative to.
Variant base_of(const Variant& parent, std::size_t count, std::size_t i) {
  return parent.versions.size() == count ? parent.versions[i] : alone(parent);
}

/// `between(base, version)` of every version of the child; none if they are the parent's.
template <class Between>
auto versions_between(const Variant& parent, const Variant& child, Between between) {
  std::optional<std::vector<decltype(between(parent, child))>> out;
  if (parent.versions == child.versions) return out;
  out.emplace();
  for (std::size_t i = 0; i < child.versions.size(); ++i)
    out->push_back(between(base_of(parent, child.versions.size(), i), child.versions[i]));
  return out;
}

/// `changed(base, change)` of every version.
template <class Change, class Changed>
std::vector<Variant> changed_versions(const Variant& parent,
                                      const std::vector<Change>& changes,
                                      Changed changed) {
  std::vector<Variant> out;
  for (std::size_t i = 0; i < changes.size(); ++i)
    out.push_back(changed(base_of(parent, changes.size(), i), changes[i]));
  return out;
}

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
          .after = changed(&Variant::after),
          .when = changed(&Variant::when)};
}

}  // namespace

VariantPatch patch_between(const Variant& parent, const Variant& child) {
  VariantPatch out = changes(parent, child, true);
  out.versions = versions_between(parent, child, patch_between);
  return out;
}

Variant patched(Variant parent, const VariantPatch& patch) {
  if (patch.versions) parent.versions = changed_versions(parent, *patch.versions, patched);
  if (patch.source) parent.source = *patch.source;
  if (patch.kernel_name) parent.kernel_name = *patch.kernel_name;
  if (patch.launch) parent.launch = *patch.launch;
  if (patch.compiler_options) parent.compiler_options = *patch.compiler_options;
  if (patch.tunables) parent.tunables = *patch.tunables;
  if (patch.scratch) parent.scratch = *patch.scratch;
  if (patch.before) parent.before = *patch.before;
  if (patch.after) parent.after = *patch.after;
  if (patch.when) parent.when = *patch.when;
  return parent;
}

VariantEdit edit_between(const Variant& parent, const Variant& child) {
  const std::string &a = parent.source, &b = child.source;
  const CommonEnds same = common_ends(a, b);
  return {.begin = same.before,
          .removed = a.size() - same.behind - same.before,
          .inserted = b.substr(same.before, b.size() - same.behind - same.before),
          .rest = changes(parent, child, false),
          .versions = versions_between(parent, child, edit_between)};
}

Variant edited(Variant parent, const VariantEdit& edit) {
  const auto change = [](Variant version, const VariantEdit& own) {
    return edited(std::move(version), own);
  };
  if (edit.versions) parent.versions = changed_versions(parent, *edit.versions, change);
  parent.source.replace(edit.begin, edit.removed, edit.inserted);
  return patched(std::move(parent), edit.rest);
}

bool fits(const Variant& parent, const VariantEdit& edit) {
  const std::size_t size = parent.source.size();
  if (edit.begin > size || edit.removed > size - edit.begin) return false;
  if (!edit.versions) return true;
  for (std::size_t i = 0; i < edit.versions->size(); ++i) {
    if (!fits(base_of(parent, edit.versions->size(), i), (*edit.versions)[i])) return false;
  }
  return true;
}

}  // namespace warpath
