#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/portable/family.h"
#include "engine/portable/judge.h"
#include "engine/spec/spec.h"
#include "engine/spec/tensor.h"

namespace warpath {

/// Names in reports, in enumerator order.
inline constexpr std::array<std::string_view, 52> kInputFamilies{"as_declared",
                                                                 "tiny",
                                                                 "huge",
                                                                 "shifted",
                                                                 "constant",
                                                                 "sparse",
                                                                 "heavy_tail",
                                                                 "small_integers",
                                                                 "mantissa",
                                                                 "cancellation",
                                                                 "sorted_ties",
                                                                 "rare_outliers",
                                                                 "specials",
                                                                 "offset",
                                                                 "far_offset",
                                                                 "unit_row",
                                                                 "far_below",
                                                                 "faint",
                                                                 "peaked",
                                                                 "opposed",
                                                                 "far_above",
                                                                 "at_most_zero",
                                                                 "at_least_zero",
                                                                 "coarse",
                                                                 "extremes",
                                                                 "lone",
                                                                 "other_scalars",
                                                                 "far_apart",
                                                                 "halves",
                                                                 "adjacent",
                                                                 "not_a_number",
                                                                 "outlier",
                                                                 "lined_up",
                                                                 "vast",
                                                                 "lowest",
                                                                 "highest",
                                                                 "subnormal",
                                                                 "bottom",
                                                                 "infinite_lines",
                                                                 "few_infinite_lines",
                                                                 "masked_infinities",
                                                                 "identity",
                                                                 "permutation",
                                                                 "triangular",
                                                                 "zero_block",
                                                                 "one_value",
                                                                 "repeated_tile",
                                                                 "half_copy",
                                                                 "low_rank",
                                                                 "ascending",
                                                                 "regular",
                                                                 "alike"};
[[nodiscard]] constexpr std::string_view name_of(InputFamily family) {
  return kInputFamilies[static_cast<std::size_t>(family)];
}
inline constexpr InputFamily kFirstStructure = InputFamily::identity;
[[nodiscard]] constexpr bool is_structure(InputFamily family) {
  return family >= kFirstStructure;
}
/// Families near and at the ends of a type's range. A kernel may leave the range where another one
/// does not, in a square or in the order of two factors: stays_in_range() tells where they judge.
[[nodiscard]] constexpr bool is_near_range_end(InputFamily family) {
  return family >= InputFamily::vast && family <= InputFamily::masked_infinities;
}
/// Of those the ones that are infinite in parts, by which results are judged that depend on none.
[[nodiscard]] constexpr bool has_infinite_parts(InputFamily family) {
  return family >= InputFamily::infinite_lines && family <= InputFamily::masked_infinities;
}
/// Families on which low bits of the inputs decide, or sums cancel.
[[nodiscard]] constexpr bool needs_whole_mantissa(InputFamily family) {
  return family == InputFamily::mantissa || family == InputFamily::cancellation ||
         family == InputFamily::offset || family == InputFamily::adjacent;
}
/// Families whose values may be much smaller than declared ones, or whose low bits decide: results
/// are held to a tolerance that is as small as they are.
[[nodiscard]] constexpr bool may_be_smaller(InputFamily family) {
  return family == InputFamily::tiny || family == InputFamily::faint ||
         family == InputFamily::subnormal || family == InputFamily::small_integers ||
         family == InputFamily::other_scalars || needs_whole_mantissa(family);
}

/// Where integers point if they are places.
enum class PlacesAt : std::uint8_t { anywhere, begin, end };
/// In forms 2 and 3 of InputFamily::one_value all integers are the least or the greatest of their
/// range, and in those of InputFamily::ascending all offsets but the last or but the first are 0 or
/// the number of elements: places at, or just outside, an end of a tensor.
[[nodiscard]] constexpr PlacesAt places_at(InputFamily family, int form) {
  if (family != InputFamily::one_value && family != InputFamily::ascending)
    return PlacesAt::anywhere;
  return form == 2 ? PlacesAt::begin : form == 3 ? PlacesAt::end : PlacesAt::anywhere;
}

/// The rule that gives the tensor of `arg` under `workload` the values of `family`. Scale and sign
/// follow the declared rule: the deviation of randn, the width of uniform; a tensor declared
/// without negative values gets none, and one drawn by uniform may keep to its range
/// (FamilyRule::low). Throws Error(bad_input) if an expression cannot be evaluated.
[[nodiscard]] FamilyRule family_rule(const KernelSpec& spec,
                                     const ArgSpec& arg,
                                     const Workload& workload,
                                     InputFamily family,
                                     std::uint64_t seed);

/// True if the declared rule draws each element independently, so that elements may be exchanged
/// without breaking a property that the kernel relies on.
[[nodiscard]] bool draws_each_alone(const TensorSpec& content);

/// True if the kernel reads small integers that are drawn and place nothing, as quantised numbers
/// are.
[[nodiscard]] bool has_integer_factors(const KernelSpec& spec, const Workload& workload);

/// True if `family` changes the values of `arg` under `workload`. A workspace, which the spec's
/// kernel does nothing with, keeps them. Integer tensors change only so
/// that the kernel's preconditions hold: elements that are drawn independently to values that the
/// rule could have drawn, permutations and row pointers to other ones (Arrangement).
[[nodiscard]] bool changes(InputFamily family,
                           const KernelSpec& spec,
                           const ArgSpec& arg,
                           const Workload& workload);

/// True if `rule` changes anything in a tensor of its type and size.
[[nodiscard]] bool applies(const FamilyRule& rule);

/// Replaces the values of a tensor; bit-identical to Harness::family. `rule` must be made for its
/// type and size. A family may lie outside a kernel's domain: if the baseline fails on it, it
/// proves nothing about a candidate.
void apply_family(Tensor& tensor, const FamilyRule& rule);

}  // namespace warpath
