#include "moves/propose/leave_one_out.h"

#include "engine/base/diff.h"
#include "engine/base/error.h"
#include "engine/plugin/variant_io.h"
#include "moves/patch/patch.h"

namespace warpath {

MovePath::MovePath(const MoveTable& moves,
                   const KernelSpec& spec,
                   const DeviceFacts& device,
                   std::vector<Variant> variants,
                   std::vector<MoveInstance> instances)
    : moves_(moves),
      spec_(spec),
      device_(device),
      variants_(std::move(variants)),
      instances_(std::move(instances)) {
  WARPATH_CHECK(variants_.size() == instances_.size() + 1);
  for (std::size_t i = 0; i < instances_.size(); ++i) {
    const Move* const move = moves_.find(instances_[i].move);
    std::string why;
    const auto made = move == nullptr ? std::nullopt
                                      : move->apply(MoveContext{spec_, variants_[i], device_},
                                                    instances_[i], why);
    made_by_.push_back(made && variant_key(*made) == variant_key(variants_[i + 1]) ? move
                                                                                   : nullptr);
  }
}

std::optional<Variant> MovePath::checked(std::optional<Variant> variant, std::string& why) const {
  if (variant && !satisfies_constraints(spec_, *variant, why)) return std::nullopt;
  if (!variant && why.empty()) why = "it does not apply";
  return variant;
}

std::optional<Variant> MovePath::repeat(std::size_t step,
                                        const Variant& at,
                                        std::string& why) const {
  if (at == variants_[step]) return variants_[step + 1];
  if (const Move* const move = made_by_[step])
    return checked(move->apply(MoveContext{spec_, at, device_}, instances_[step], why), why);
  VariantPatch change = patch_between(variants_[step], variants_[step + 1]);
  if (change.source) {
    change.source = apply_patch(
        at.source,
        unified_diff(variants_[step].source, *change.source, "a/kernel.cu", "b/kernel.cu"), why);
    if (!change.source) return std::nullopt;
  }
  return checked(patched(at, change), why);
}

LeftOut MovePath::without(const std::set<std::size_t>& steps) const {
  if (steps.empty()) return {kernel(), ""};
  LeftOut out{variants_[*steps.begin()], ""};
  for (std::size_t later = *steps.begin() + 1; later < size(); ++later) {
    if (steps.contains(later)) continue;
    std::string why;
    if (std::optional<Variant> next = repeat(later, *out.variant, why)) {
      out.variant = std::move(next);
      continue;
    }
    if (out.needing.empty())
      out.why = instances_[later].text() + " does not apply without it: " + why;
    out.needing.push_back(instances_[later].text());
  }
  return out;
}

std::optional<MovePath::Reversed> MovePath::reversed(std::size_t step) const {
  if (made_by_[step] == nullptr) return std::nullopt;
  const auto back =
      made_by_[step]->inverse(MoveContext{spec_, variants_[step], device_}, instances_[step]);
  const Move* const move = back ? moves_.find(back->move) : nullptr;
  if (move == nullptr) return std::nullopt;
  std::string why;
  auto result = checked(move->apply(MoveContext{spec_, kernel(), device_}, *back, why), why);
  if (!result)
    return Reversed{*back, {std::nullopt, back->text() + " does not apply to the kernel: " + why}};
  return Reversed{*back, {std::move(result), ""}};
}

}  // namespace warpath
