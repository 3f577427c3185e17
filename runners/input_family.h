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
inline constexpr std::array<std::string_view, 29> kInputFamilies{
    "as_declared", "tiny",           "huge",       "shifted",      "constant",    "sparse",
    "heavy_tail",  "small_integers", "mantissa",   "cancellation", "sorted_ties", "rare_outliers",
    "specials",    "offset",         "far_offset", "unit_row",     "far_below",   "faint",
    "peaked",      "opposed",        "identity",   "permutation",  "triangular",  "zero_block",
    "one_value",   "repeated_tile",  "half_copy",  "low_rank",     "ascending"};
[[nodiscard]] constexpr std::string_view name_of(InputFamily family) {
  return kInputFamilies[static_cast<std::size_t>(family)];
}
inline constexpr InputFamily kFirstStructure = InputFamily::identity;
[[nodiscard]] constexpr bool is_structure(InputFamily family) {
  return family >= kFirstStructure;
}

/// How the tensors of one input set are made.
struct FamilyChoice {
  /// Of the tensors that the family changes, in argument order: all, or every other one. The rest
  /// is as declared.
  enum class Of : std::uint8_t { all, even_ones, odd_ones };

  InputFamily family = InputFamily::as_declared;
  int form = 0;  ///< FamilyRule::form
  Of of = Of::all;
  /// The family holds but for one element of each tensor. A kernel that takes a structure for
  /// granted after a look at a part of it is wrong there; one that is wrong under the structure
  /// itself is wrong where it holds.
  bool but_for_one = false;
  /// The rest has special numbers: what a kernel leaves out since it multiplies zeros meets numbers
  /// that are none.
  bool against_specials = false;
  auto operator<=>(const FamilyChoice&) const = default;
  /// True if the choice has this family in tensor number `changed`, from 0.
  [[nodiscard]] bool has(std::size_t changed) const {
    return of == Of::all || (changed % 2 == 0) == (of == Of::even_ones);
  }
  [[nodiscard]] Infinities infinities() const {
    return family == InputFamily::specials ? Infinities::anywhere
           : against_specials              ? Infinities::beside_zeros
                                           : Infinities::none;
  }
  /// "triangular (zero above) in every other tensor, from the first, but for one element";
  /// "as_declared".
  [[nodiscard]] std::string label() const;
};

/// Every stress family that changes an input of `workload`.
[[nodiscard]] std::vector<FamilyChoice> stress_choices(const KernelSpec& spec,
                                                       const Workload& workload);
/// Structures in the even and in the odd inputs of `workload`: every kind that their shapes have
/// (FamilyRule::form), but for one element, beside special numbers where it has zeros, and whole;
/// and zeros in all inputs at once.
/// Whatever the seed, each is a choice of its own; the ones that expose most come first.
[[nodiscard]] std::vector<FamilyChoice> structure_choices(const KernelSpec& spec,
                                                          const Workload& workload);
/// At most `most` of `choices`, at even distances from number `first` on.
[[nodiscard]] std::vector<FamilyChoice> spread(const std::vector<FamilyChoice>& choices,
                                               std::size_t most,
                                               std::uint64_t first);

/// The rule that turns the tensor of `arg` under `workload` into `family`. Its scale and sign
/// follow the declared rule: randn has its deviation, uniform its width; a tensor whose rule has no
/// negative value keeps that. Throws Error(bad_input) where an expression fails.
[[nodiscard]] FamilyRule family_rule(const KernelSpec& spec,
                                     const ArgSpec& arg,
                                     const Workload& workload,
                                     InputFamily family,
                                     std::uint64_t seed);

/// The rule for tensor number `changed` (from 0) of those that the choice's family changes. Its
/// family is as_declared where the choice leaves that tensor alone: applies() is false.
[[nodiscard]] FamilyRule family_rule(const KernelSpec& spec,
                                     const ArgSpec& arg,
                                     const Workload& workload,
                                     const FamilyChoice& choice,
                                     std::size_t changed,
                                     std::uint64_t seed);

/// True if the declared rule draws every element by itself: one may be another without breaking
/// what the kernel relies on.
[[nodiscard]] bool draws_each_alone(const TensorSpec& content);

/// True if `family` changes the values of `arg` under `workload`. Integers change where their rule
/// draws each by itself, and to their own values and zeros that the rule could have drawn, so that
/// they stay what the kernel may be given.
[[nodiscard]] bool changes(InputFamily family,
                           const KernelSpec& spec,
                           const ArgSpec& arg,
                           const Workload& workload);

/// True if `rule` changes anything of a tensor of its type and size.
[[nodiscard]] bool applies(const FamilyRule& rule);

/// Replaces the values of a tensor; the same bits as Harness::family. `rule` must be made for its
/// type and size. A family can leave the domain of a kernel:
/// one that the baseline itself fails says nothing of a candidate.
void apply_family(Tensor& tensor, const FamilyRule& rule);

}  // namespace warpath
