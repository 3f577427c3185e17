#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "engine/spec.h"
#include "engine/tensor.h"
#include "runners/cuda/device_code/records.h"

namespace warpath::cuda {

/// Names in reports, in enumerator order.
inline constexpr std::array<std::string_view, 16> kInputFamilies{
    "as_declared", "tiny",           "huge",     "shifted",      "constant",   "sparse",
    "heavy_tail",  "small_integers", "mantissa", "cancellation", "sorted_ties",
    "rare_outliers", "specials",     "offset",   "far_offset",
    "unit_row"};
[[nodiscard]] constexpr std::string_view name_of(InputFamily family) {
  return kInputFamilies[static_cast<std::size_t>(family)];
}

/// The rule that turns the tensor of `arg` under `workload` into `family`. Its scale and sign
/// follow the declared rule: randn has its deviation, uniform its width; a tensor whose rule has no
/// negative value keeps that. Throws Error(bad_input) where an expression fails.
[[nodiscard]] FamilyRule family_rule(const KernelSpec& spec,
                                     const ArgSpec& arg,
                                     const Workload& workload,
                                     InputFamily family,
                                     std::uint64_t seed);

/// True if the declared rule draws every element by itself: one may be another without breaking what the kernel relies on.
[[nodiscard]] bool draws_each_alone(const TensorSpec& content);

/// True if `family` changes the values of `arg` under `workload`. Integers change where their rule draws each by itself, and to one of
/// their own values only, so that they stay what the kernel may be given.
[[nodiscard]] bool changes(InputFamily family, const KernelSpec& spec, const ArgSpec& arg, const Workload& workload);

/// True if `rule` changes anything of a tensor of its type and size.
[[nodiscard]] bool applies(const FamilyRule& rule);

/// Replaces the values of a tensor; the same bits as Harness::family. `rule` must be made for its
/// type and size. A family can leave the domain of a kernel:
/// one that the baseline itself fails says nothing of a candidate.
void apply_family(Tensor& tensor, const FamilyRule& rule);

}  // namespace warpath::cuda
