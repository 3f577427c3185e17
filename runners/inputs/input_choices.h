#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runners/inputs/input_family.h"

/// Input sets: which family is applied to which of a kernel's tensors.
namespace warpath {

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
  /// Likewise one of each line, or of each matrix where these are small: for a kernel that inspects
  /// part of each.
  bool but_for_one_of_each = false;
  /// The other tensors contain special numbers (infinities). This exposes a kernel that skips
  /// products with zeros.
  bool against_specials = false;
  /// The integers of other tensors count up from 0 (InputFamily::identity): some are where ranges
  /// begin. This exposes a kernel that finds one of several empty ranges that begin there.
  bool beside_consecutive = false;
  auto operator<=>(const FamilyChoice&) const = default;
  /// True if the family is applied to the `changed`-th (from 0) tensor that it can change.
  [[nodiscard]] bool has(std::size_t changed) const {
    if (of == Of::one) return changed == which;
    return of == Of::all || (changed % 2 == 0) == (of == Of::even_ones);
  }
  [[nodiscard]] Infinities infinities() const {
    return family == InputFamily::specials                                ? Infinities::anywhere
           : against_specials                                             ? Infinities::beside_zeros
           : has_infinite_parts(family) || family == InputFamily::outlier ? Infinities::in_lines
           : family == InputFamily::not_a_number                          ? Infinities::none_but_nan
           : family == InputFamily::as_declared || family == InputFamily::bottom ? Infinities::none
           : is_near_range_end(family)                                           ? Infinities::made
                                       : Infinities::overflowing;
  }
  /// Of families near the ends of the range: the same numbers but for their exponent; of those with
  /// infinite or large parts the same without these.
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
/// of three to six alone: each kind that their shapes allow (FamilyRule::form), once except for one
/// element, once except for one of each line or small matrix, where parts of these show it, once
/// beside special numbers if it has zeros, and once complete; what relates several inputs
/// (InputFamily::alike) and zeros are in all at once, and offsets also have integers beside them
/// that count up. All choices are distinct for every seed; the most revealing ones come first.
[[nodiscard]] std::vector<FamilyChoice> structure_choices(const KernelSpec& spec,
                                                          const Workload& workload);
/// Where integers may be places: all equal, or in tiles that repeat, in one tensor at a time of up
/// to three, while the others are as declared, so that several threads have different values for
/// one place.
[[nodiscard]] std::vector<FamilyChoice> colliding_choices(const KernelSpec& spec,
                                                          const Workload& workload);
/// At most `most` of `choices`, evenly spaced, starting at index `first` (modulo their number).
[[nodiscard]] std::vector<FamilyChoice> spread(const std::vector<FamilyChoice>& choices,
                                               std::size_t most,
                                               std::uint64_t first);

/// The rule for the `changed`-th (from 0) tensor that the choice's family can change. If the choice
/// leaves that tensor alone, its family is as_declared and applies() is false.
[[nodiscard]] FamilyRule family_rule(const KernelSpec& spec,
                                     const ArgSpec& arg,
                                     const Workload& workload,
                                     const FamilyChoice& choice,
                                     std::size_t changed,
                                     std::uint64_t seed);

/// The rules of all tensors that the choice's family can change, in argument order.
[[nodiscard]] std::vector<std::pair<const ArgSpec*, FamilyRule>> family_rules(
    const KernelSpec& spec,
    const Workload& workload,
    const FamilyChoice& choice,
    std::uint64_t seed);

}  // namespace warpath
