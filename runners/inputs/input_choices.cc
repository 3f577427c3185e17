#include "runners/inputs/input_choices.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "engine/portable/family_word.h"
#include "runners/inputs/other_scalars.h"

namespace warpath {
namespace {

/// One for each tensor that `family` changes, in argument order.
std::vector<FamilyRule> rules(InputFamily family,
                              const KernelSpec& spec,
                              const Workload& workload) {
  std::vector<FamilyRule> out;
  for (const ArgSpec& arg : spec.io.args) {
    if (arg.type != ArgType::tensor || arg.role == ArgRole::output ||
        !changes(family, spec, arg, workload))
      continue;
    out.push_back(family_rule(spec, arg, workload, family, 0));
  }
  return out;
}

/// What a structure is combined with.
enum class Beside { but_for_one, special_numbers, nothing, but_for_one_of_each };

/// As many elements as belong together: a line or, where that is small, a matrix; 0 where there are
/// no more.
portable::Word group_of(const FamilyRule& rule) {
  constexpr portable::Word kSmallMatrix = 64;
  const portable::Word matrix = rule.lines * rule.row;
  const portable::Word group = matrix <= kSmallMatrix ? matrix : rule.row;
  return group > 1 && group < rule.elements && rule.arrangement == Arrangement::none ? group : 0;
}

/// A part of a line, or of a small matrix, may tell that it has the structure: for triangles a part
/// of several lines does, and with lines of two numbers in them few sums are exact.
bool shows_in_lines(InputFamily family) {
  return family != InputFamily::permutation && family != InputFamily::repeated_tile &&
         family != InputFamily::low_rank && family != InputFamily::triangular;
}

/// Forms of the choice's family that differ in one of its tensors, the ones that are tried
/// `beside`; none where the choice says nothing. What is zero in a matrix has each place with one
/// of the three.
std::vector<int> forms(const FamilyChoice& choice,
                       Beside beside,
                       const std::vector<FamilyRule>& rules) {
  int count = 0;
  bool numbers_beside = false;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const bool multiplies = portable::is_floating(rules[i].dtype);
    if (beside == Beside::but_for_one_of_each &&
        (group_of(rules[i]) == 0 || !shows_in_lines(choice.family)))
      continue;
    if (choice.has(i) && (multiplies || beside != Beside::special_numbers))
      count = std::max(count, portable::structure_forms(rules[i]));
    numbers_beside = numbers_beside || (!choice.has(i) && portable::is_floating(rules[i].dtype));
  }
  if (beside == Beside::special_numbers && !numbers_beside) return {};
  // Who takes it for granted is seen where one element is another.
  if (choice.family == InputFamily::regular && beside == Beside::nothing) return {};
  std::vector<int> out;
  for (int form = 0; form < count; ++form) {
    constexpr int kPlaces = 3;
    const bool tried = choice.family != InputFamily::zero_block || count == kPlaces ||
                       form % kPlaces == (form / kPlaces + static_cast<int>(beside)) % kPlaces;
    // What is left out since it multiplies zeros shows where there are zeros.
    const bool has_zeros =
        choice.family == InputFamily::identity || choice.family == InputFamily::permutation ||
        choice.family == InputFamily::triangular || choice.family == InputFamily::zero_block ||
        (choice.family == InputFamily::one_value && form == 1);
    if (tried && (beside != Beside::special_numbers || has_zeros)) out.push_back(form);
  }
  return out;
}

/// The tensors, of so many, that have a structure together.
std::vector<std::pair<FamilyChoice::Of, std::uint8_t>> targets(std::size_t tensors, Beside beside) {
  using Of = FamilyChoice::Of;
  constexpr std::size_t kFew = 2, kMostAlone = 6;
  std::vector<std::pair<Of, std::uint8_t>> out;
  // Zeros in one input may hide what a structure in another one shows.
  if (tensors > kFew && tensors <= kMostAlone && beside == Beside::but_for_one) {
    for (std::size_t i = 0; i < tensors; ++i)
      out.emplace_back(Of::one, static_cast<std::uint8_t>(i));
    return out;
  }
  return {{Of::even_ones, std::uint8_t{0}}, {Of::odd_ones, std::uint8_t{0}}};
}

/// All tensors have the structure at once: equal elements hide nothing in another one, as zeros do,
/// and who looks for them may look everywhere.
bool is_of_all(InputFamily family, int form) {
  return family == InputFamily::alike || (family == InputFamily::regular && form > 1);
}

/// The tensor is an even one, from 0, of the floating-point or of the integer ones that
/// InputFamily::alike changes.
bool is_even_of_kind(const KernelSpec& spec, const ArgSpec& arg, const Workload& workload) {
  const auto is_float = [](const ArgSpec& one) { return info(one.tensor->dtype).is_float; };
  bool even = true;
  for (const ArgSpec& other : spec.io.args) {
    if (other.name == arg.name) break;
    if (other.type == ArgType::tensor && other.role != ArgRole::output &&
        is_float(other) == is_float(arg) && changes(InputFamily::alike, spec, other, workload))
      even = !even;
  }
  return even;
}

constexpr std::string_view kPlaceNames[] = {"at the begin", "amid", "at the end"};

std::string form_name(InputFamily family, int form) {
  const bool first = form == 0;
  switch (family) {
    case InputFamily::bottom:
      return "lines of -infinity";
    case InputFamily::opposed:
      return first ? "the first above" : "the first below";
    case InputFamily::other_scalars:
      return first ? "" : "scalar " + std::to_string(form) + " alone";
    case InputFamily::extremes:
      return first ? "" : form == 3 ? "of every size" : "within four values of an end";
    case InputFamily::permutation:
      return first ? "shifted" : "reversed";
    case InputFamily::triangular:
      return first ? "zero above" : form == 1 ? "zero below" : "zero beside three diagonals";
    case InputFamily::one_value:
      return first       ? "its own"
             : form == 1 ? "0"
             : form == 2 ? "the least"
             : form == 3 ? "the greatest"
                         : "digits of 8";
    case InputFamily::half_copy:
      return first       ? "of lines"
             : form == 1 ? "of the tensor"
             : form == 2 ? "across the diagonal"
             : form == 3 ? "of the line before, moved on by one"
                         : "across the diagonal, the sign changed";
    case InputFamily::identity:
      return first ? "" : "each the place before";
    case InputFamily::regular:
      return first       ? "even columns 0"
             : form == 1 ? "odd columns 0"
             : form == 2 ? "two neighbours equal"
             : form == 3 ? "three of four equal"
             : form == 4 ? "mirrored"
                         : "at equal distances";
    case InputFamily::alike:
      return first       ? ""
             : form == 1 ? "the sign changed"
             : form == 2 ? "lines turned"
                         : "lines and columns exchanged";
    case InputFamily::ascending:
      return first       ? "upwards"
             : form == 1 ? "downwards"
             : form == 2 ? "the last range longest"
                         : "the first range longest";
    case InputFamily::repeated_tile:
      return first       ? "beside each other"
             : form == 1 ? "below each other"
                         : "beside and below each other";
    case InputFamily::zero_block:
      return std::string(form < 3   ? "lines "
                         : form < 6 ? "columns "
                                    : "a rectangle ") +
             std::string(kPlaceNames[form % 3]);
    default:
      return "";
  }
}

}  // namespace

std::string FamilyChoice::label() const {
  std::string text(name_of(family));
  if (const std::string kind = form_name(family, form); !kind.empty()) text += " (" + kind + ")";
  if (of == Of::even_ones) text += " in every other tensor, from the first";
  if (of == Of::odd_ones) text += " in every other tensor, from the second";
  if (of == Of::one) text += ", in tensor " + std::to_string(which + 1) + " alone";
  if (but_for_one) text += ", but for one element";
  if (but_for_one_of_each) text += ", but for one element of each";
  if (against_specials) text += ", special numbers in the others";
  if (beside_consecutive) text += ", consecutive integers in the others";
  return text;
}

std::string no_other_inputs(const KernelSpec& spec) {
  return std::holds_alternative<ReferenceOutputs>(spec.reference)
             ? "the expected outputs are given, for the spec's own inputs alone"
             : "";
}

std::vector<FamilyChoice> stress_choices(const KernelSpec& spec, const Workload& workload) {
  std::vector<FamilyChoice> out;
  if (!no_other_inputs(spec).empty()) return out;
  for (auto f = static_cast<int>(InputFamily::as_declared) + 1;
       f < static_cast<int>(kFirstStructure); ++f) {
    const FamilyChoice choice{.family = static_cast<InputFamily>(f)};
    const std::size_t least = choice.family == InputFamily::far_apart ? 2 : 1;
    if (choice.family == InputFamily::other_scalars
            ? free_scalars(spec, workload) > 0
            : rules(choice.family, spec, workload).size() >= least)
      out.push_back(choice);
  }
  // A function may have an end at either side, and there may be one tensor alone.
  if (!rules(InputFamily::opposed, spec, workload).empty())
    out.push_back({.family = InputFamily::opposed, .form = 1});
  // What is known of one scalar may be taken for known of all.
  if (const int scalars = free_scalars(spec, workload); scalars > 1) {
    for (int form = 1; form <= scalars; ++form)
      out.push_back({.family = InputFamily::other_scalars, .form = form});
  }
  // What is made of two integers is largest where they are at opposite ends.
  const auto has_narrow = [](const FamilyRule& rule) { return !portable::is_wide_integer(rule); };
  if (std::ranges::count_if(rules(InputFamily::extremes, spec, workload), has_narrow) > 1)
    out.push_back({.family = InputFamily::extremes, .form = 1});
  if (std::ranges::any_of(rules(InputFamily::extremes, spec, workload), portable::has_sizes))
    out.push_back({.family = InputFamily::extremes, .form = 3});
  return out;
}

std::vector<FamilyChoice> structure_choices(const KernelSpec& spec, const Workload& workload) {
  constexpr InputFamily kStructures[] = {InputFamily::identity,   InputFamily::repeated_tile,
                                         InputFamily::zero_block, InputFamily::half_copy,
                                         InputFamily::one_value,  InputFamily::permutation,
                                         InputFamily::triangular, InputFamily::low_rank,
                                         InputFamily::ascending,  InputFamily::regular};
  std::vector<FamilyChoice> out;
  if (!no_other_inputs(spec).empty()) return out;
  for (const Beside beside : {Beside::but_for_one, Beside::but_for_one_of_each,
                              Beside::special_numbers, Beside::nothing}) {
    // The first forms of all families come before the second ones of any.
    std::vector<std::vector<FamilyChoice>> rounds;
    for (const InputFamily family : kStructures) {
      const std::vector<FamilyRule> changed = rules(family, spec, workload);
      for (const auto& [of, which] : targets(changed.size(), beside)) {
        FamilyChoice choice{.family = family,
                            .of = of,
                            .which = which,
                            .but_for_one = beside == Beside::but_for_one,
                            .but_for_one_of_each = beside == Beside::but_for_one_of_each,
                            .against_specials = beside == Beside::special_numbers};
        std::size_t round = 0;
        for (const int form : forms(choice, beside, changed)) {
          if (is_of_all(family, form)) continue;
          choice.form = form;
          if (rounds.size() <= round) rounds.emplace_back();
          rounds[round++].push_back(choice);
        }
      }
    }
    for (const auto& round : rounds) out.insert(out.end(), round.begin(), round.end());
    for (const InputFamily family : {InputFamily::alike, InputFamily::regular}) {
      if (beside == Beside::special_numbers) continue;
      FamilyChoice choice{.family = family,
                          .but_for_one = beside == Beside::but_for_one,
                          .but_for_one_of_each = beside == Beside::but_for_one_of_each};
      const std::vector<FamilyRule> changed = rules(family, spec, workload);
      const std::ptrdiff_t floats = std::ranges::count_if(
          changed, [](const FamilyRule& rule) { return portable::is_floating(rule.dtype); });
      if (family == InputFamily::alike && floats < 2 && std::ssize(changed) - floats < 2) continue;
      for (const int form : forms(choice, beside, changed)) {
        choice.form = form;
        if (is_of_all(family, form)) out.push_back(choice);
      }
    }
    if (beside != Beside::but_for_one) continue;
    // What is divided by may be a sum over several tensors: zeros in all of them, first of lines at
    // their begin, where every tensor has some. Products of integers are largest at the ends of all
    // ranges.
    for (const InputFamily family : {InputFamily::zero_block, InputFamily::one_value}) {
      const std::vector<FamilyRule> changed = rules(family, spec, workload);
      if (changed.size() < 2) continue;
      const bool is_value = family == InputFamily::one_value;
      out.push_back({.family = family, .form = is_value ? 1 : 0});
      int forms = 0;
      for (const FamilyRule& rule : changed)
        forms = std::max(forms, is_value ? portable::structure_forms(rule) : 0);
      for (int form = 2; form < forms; ++form) out.push_back({.family = family, .form = form});
    }
  }
  // What is looked up among ranges may be where one begins, behind some that are empty.
  const std::vector<FamilyRule> ordered = rules(InputFamily::ascending, spec, workload);
  const auto is_looked_up = [](const FamilyRule& rule) {
    return rule.arrangement == Arrangement::none && !portable::is_floating(rule.dtype);
  };
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    if (ordered[i].arrangement != Arrangement::offsets ||
        std::ranges::none_of(ordered, is_looked_up))
      continue;
    for (int form = 0; form < portable::structure_forms(ordered[i]); ++form) {
      out.push_back({.family = InputFamily::ascending,
                     .form = form,
                     .of = FamilyChoice::Of::one,
                     .which = static_cast<std::uint8_t>(i),
                     .beside_consecutive = true});
    }
  }
  return out;
}

std::vector<FamilyChoice> colliding_choices(const KernelSpec& spec, const Workload& workload) {
  constexpr std::size_t kMostTensors = 3;
  std::vector<FamilyChoice> out;
  if (!no_other_inputs(spec).empty()) return out;
  for (const InputFamily family : {InputFamily::constant, InputFamily::repeated_tile}) {
    const std::vector<FamilyRule> changed = rules(family, spec, workload);
    std::size_t tensors = 0;
    for (std::size_t i = 0; i < changed.size() && tensors < kMostTensors; ++i) {
      if (portable::is_floating(changed[i].dtype)) continue;
      ++tensors;
      out.push_back(
          {.family = family, .of = FamilyChoice::Of::one, .which = static_cast<std::uint8_t>(i)});
    }
  }
  return out;
}

std::vector<FamilyChoice> spread(const std::vector<FamilyChoice>& choices,
                                 std::size_t most,
                                 std::uint64_t first) {
  if (most >= choices.size()) return choices;
  std::vector<FamilyChoice> out;
  for (std::size_t i = 0; i < most; ++i)
    out.push_back(choices[(first % choices.size() + i * choices.size() / most) % choices.size()]);
  return out;
}

FamilyRule family_rule(const KernelSpec& spec,
                       const ArgSpec& arg,
                       const Workload& workload,
                       const FamilyChoice& choice,
                       std::size_t changed,
                       std::uint64_t seed) {
  const bool is_counted = choice.beside_consecutive && !choice.has(changed) &&
                          changes(InputFamily::identity, spec, arg, workload) &&
                          !info(spec.tensor_of(arg, workload).dtype).is_float;
  const InputFamily others = choice.against_specials ? InputFamily::specials
                             : is_counted            ? InputFamily::identity
                                                     : InputFamily::as_declared;
  // What products of the first two tensors weigh is not the same everywhere.
  const bool is_third = choice.family == InputFamily::far_apart && changed > 1;
  FamilyRule rule = family_rule(spec, arg, workload,
                                choice.has(changed) && !is_third ? choice.family : others, seed);
  rule.form = choice.form;
  // What has no such relation stays as it is: zeros in its place would hide the others.
  if (choice.family == InputFamily::regular && choice.form >= portable::structure_forms(rule))
    rule.family = InputFamily::as_declared;
  if (choice.family == InputFamily::alike && is_even_of_kind(spec, arg, workload)) rule.form = 0;
  if (choice.family == InputFamily::far_apart) rule.form = static_cast<int>(changed);
  if (choice.family == InputFamily::opposed)
    rule.form = (choice.form + static_cast<int>(changed)) % 2;
  if (choice.family == InputFamily::extremes && choice.form == 3 && !portable::has_sizes(rule))
    rule.family = InputFamily::as_declared;
  if (choice.family == InputFamily::extremes && choice.form == 1)
    rule.form = 1 + (choice.form - 1 + static_cast<int>(changed)) % 2;
  if (choice.but_for_one_of_each && choice.has(changed)) rule.odd_group = group_of(rule);
  // Those that count begin at 0 if one of them is another.
  if ((choice.but_for_one && choice.has(changed)) || is_counted)
    rule.odd = portable::odd_element(rule, rule.seed);
  return rule;
}

std::vector<std::pair<const ArgSpec*, FamilyRule>> family_rules(const KernelSpec& spec,
                                                                const Workload& workload,
                                                                const FamilyChoice& choice,
                                                                std::uint64_t seed) {
  std::vector<std::pair<const ArgSpec*, FamilyRule>> out;
  for (const ArgSpec& arg : spec.io.args) {
    if (arg.type == ArgType::tensor && arg.role != ArgRole::output &&
        changes(choice.family, spec, arg, workload))
      out.emplace_back(&arg, family_rule(spec, arg, workload, choice, out.size(), seed));
  }
  return out;
}

}  // namespace warpath
