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
inline constexpr std::array<std::string_view, 43> kInputFamilies{
    "as_declared", "tiny",          "huge",           "shifted",        "constant",
    "sparse",      "heavy_tail",    "small_integers", "mantissa",       "cancellation",
    "sorted_ties", "rare_outliers", "specials",       "offset",         "far_offset",
    "unit_row",    "far_below",     "faint",          "peaked",         "opposed",
    "far_above",   "at_most_zero",  "at_least_zero",  "coarse",         "extremes",
    "lone",        "other_scalars", "far_apart",      "vast",           "lowest",
    "highest",     "subnormal",     "bottom",         "infinite_lines", "identity",
    "permutation", "triangular",    "zero_block",     "one_value",      "repeated_tile",
    "half_copy",   "low_rank",      "ascending"};
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
  return family >= InputFamily::vast && family <= InputFamily::infinite_lines;
}
/// Families on which low bits of the inputs decide, or sums cancel.
[[nodiscard]] constexpr bool needs_whole_mantissa(InputFamily family) {
  return family == InputFamily::mantissa || family == InputFamily::cancellation ||
         family == InputFamily::offset;
}

/// How the tensors of one input set are made.
struct FamilyChoice {
  /// Which of the tensors that the family can change it is applied to, in argument order. The
  /// others keep their declared values.
  enum class Of : std::uint8_t { all, even_ones, odd_ones, one };

  InputFamily family = InputFamily::as_declared;
  int form = 0;  ///< FamilyRule::form
  Of of = Of::all;
  std::uint8_t which = 0;  ///< Of::one: its number, from 0
  /// The family holds except for one element of each tensor. This exposes a kernel that assumes a
  /// structure after inspecting only part of the input.
  bool but_for_one = false;
  /// The other tensors contain special numbers (infinities). This exposes a kernel that skips
  /// products with zeros.
  bool against_specials = false;
  auto operator<=>(const FamilyChoice&) const = default;
  /// True if the family is applied to the `changed`-th (from 0) tensor that it can change.
  [[nodiscard]] bool has(std::size_t changed) const {
    if (of == Of::one) return changed == which;
    return of == Of::all || (changed % 2 == 0) == (of == Of::even_ones);
  }
  [[nodiscard]] Infinities infinities() const {
    return family == InputFamily::specials         ? Infinities::anywhere
           : against_specials                      ? Infinities::beside_zeros
           : family == InputFamily::infinite_lines ? Infinities::in_lines
           : family == InputFamily::as_declared || family == InputFamily::bottom ? Infinities::none
                                                                                 : Infinities::made;
  }
  /// Of families near the ends of the range: the same numbers but for their exponent.
  [[nodiscard]] FamilyChoice near_one() const {
    FamilyChoice out = *this;
    out.form = 1;
    return out;
  }
  /// "triangular (zero above) in every other tensor, from the first, but for one element";
  /// "as_declared".
  [[nodiscard]] std::string label() const;
};

/// Why a gate that needs other inputs than the spec's does not run; empty: it may. Expected outputs
/// that a spec gives as values are those of its own inputs alone.
[[nodiscard]] std::string no_other_inputs(const KernelSpec& spec);

/// Every stress family that changes an input of `workload`; none where no_other_inputs() says why.
[[nodiscard]] std::vector<FamilyChoice> stress_choices(const KernelSpec& spec,
                                                       const Workload& workload);
/// Structures in the even and in the odd inputs of `workload`, or, except for one element, in each
/// of three to six alone: each kind that their shapes allow
/// (FamilyRule::form), once except for one element, once beside special numbers if it has zeros,
/// and once complete; then zeros in all inputs at once. All choices are distinct for every seed;
/// the most revealing ones come first.
[[nodiscard]] std::vector<FamilyChoice> structure_choices(const KernelSpec& spec,
                                                          const Workload& workload);
/// At most `most` of `choices`, evenly spaced, starting at index `first` (modulo their number).
[[nodiscard]] std::vector<FamilyChoice> spread(const std::vector<FamilyChoice>& choices,
                                               std::size_t most,
                                               std::uint64_t first);

/// The rule that gives the tensor of `arg` under `workload` the values of `family`. Scale and sign
/// follow the declared rule: the deviation of randn, the width of uniform; a tensor declared
/// without negative values gets none. Throws Error(bad_input) if an expression cannot be evaluated.
[[nodiscard]] FamilyRule family_rule(const KernelSpec& spec,
                                     const ArgSpec& arg,
                                     const Workload& workload,
                                     InputFamily family,
                                     std::uint64_t seed);

/// The rule for the `changed`-th (from 0) tensor that the choice's family can change. If the choice
/// leaves that tensor alone, its family is as_declared and applies() is false.
[[nodiscard]] FamilyRule family_rule(const KernelSpec& spec,
                                     const ArgSpec& arg,
                                     const Workload& workload,
                                     const FamilyChoice& choice,
                                     std::size_t changed,
                                     std::uint64_t seed);

/// True if the declared rule draws each element independently, so that elements may be exchanged
/// without breaking a property that the kernel relies on.
[[nodiscard]] bool draws_each_alone(const TensorSpec& content);

/// True if `family` changes the values of `arg` under `workload`. Integer tensors change only so
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
