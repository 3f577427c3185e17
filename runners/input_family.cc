#include "runners/input_family.h"

#include <cmath>
#include <vector>

#include "engine/tensor_init.h"

namespace warpath {
namespace {

/// Width of the values that `rule` makes, where that means something.
double spread_of(const ElementRule& rule) {
  using Kind = ElementRule::Kind;
  const bool spread = rule.kind == Kind::normal || rule.kind == Kind::uniform;
  return spread && rule.second != 0 ? std::abs(rule.second) : 1;
}

bool is_nonnegative(const ElementRule& rule) {
  using Kind = ElementRule::Kind;
  switch (rule.kind) {
    case Kind::constant:
    case Kind::uniform:
      return rule.first >= 0;
    case Kind::ramp:
      return rule.first >= 0 && rule.second >= 0;
    case Kind::integer:
      return static_cast<std::int64_t>(rule.base) >= 0;
    case Kind::permutation:
      return true;
    case Kind::normal:
      return rule.second == 0 && rule.first >= 0;
    default:
      return false;
  }
}

/// Families that take a tensor's own values alone.
bool is_of_own_values(InputFamily family) {
  return family == InputFamily::constant || family == InputFamily::one_value || family == InputFamily::repeated_tile || family == InputFamily::half_copy;
}

std::vector<FamilyChoice> make_stress_choices() {
  std::vector<FamilyChoice> out;
  for (std::size_t f = 1; f < static_cast<std::size_t>(kFirstStructure); ++f) out.push_back({.family = static_cast<InputFamily>(f)});
  return out;
}

std::vector<FamilyChoice> make_structure_choices() {
  using Of = FamilyChoice::Of;
  constexpr InputFamily kStructures[] = {InputFamily::identity, InputFamily::repeated_tile, InputFamily::zero_block, InputFamily::half_copy, InputFamily::one_value,
                                         InputFamily::permutation, InputFamily::triangular, InputFamily::low_rank, InputFamily::ascending};
  std::vector<FamilyChoice> out;
  for (const Of of : {Of::even_ones, Of::odd_ones}) {
    for (const InputFamily family : kStructures) out.push_back({.family = family, .of = of, .but_for_one = true});
    out.push_back({.family = InputFamily::zero_block, .of = of, .against_specials = true});
  }
  for (const Of of : {Of::even_ones, Of::odd_ones}) {
    for (const InputFamily family : kStructures) out.push_back({.family = family, .of = of});
  }
  return out;
}

}  // namespace

std::string FamilyChoice::label() const {
  std::string text(name_of(family));
  if (of == Of::even_ones) text += " in every other tensor, from the first";
  if (of == Of::odd_ones) text += " in every other tensor, from the second";
  if (but_for_one) text += ", but for one element";
  if (against_specials) text += ", special numbers in the others";
  return text;
}

std::span<const FamilyChoice> stress_choices() {
  static const std::vector<FamilyChoice> choices = make_stress_choices();
  return choices;
}

std::span<const FamilyChoice> structure_choices() {
  static const std::vector<FamilyChoice> choices = make_structure_choices();
  return choices;
}

bool means_something(const FamilyChoice& choice, std::size_t changed) {
  if (choice.of == FamilyChoice::Of::all) return changed > 0;
  return changed > (choice.of == FamilyChoice::Of::odd_ones || choice.against_specials ? 1U : 0U);
}

FamilyRule family_rule(const KernelSpec& spec, const ArgSpec& arg, const Workload& workload, const FamilyChoice& choice, std::size_t changed, std::uint64_t seed) {
  const InputFamily others = choice.against_specials ? InputFamily::specials : InputFamily::as_declared;
  FamilyRule rule = family_rule(spec, arg, workload, choice.has(changed) ? choice.family : others, seed);
  if (choice.but_for_one && choice.has(changed)) rule.odd = portable::odd_element(rule, rule.seed);
  return rule;
}

FamilyRule family_rule(const KernelSpec& spec,
                       const ArgSpec& arg,
                       const Workload& workload,
                       InputFamily family,
                       std::uint64_t seed) {
  const TensorSpec content = spec.tensor_of(arg, workload);
  const std::vector<std::int64_t> shape = spec.shape_of(arg, workload);
  FamilyRule out{};
  out.family = family;
  out.dtype = content.dtype;
  out.seed = seed;  // of this argument: the rare values of two inputs lie at different places
  for (const char c : arg.name) out.seed = portable::mix(out.seed ^ static_cast<unsigned char>(c));
  out.elements = 1;
  for (const std::int64_t extent : shape) out.elements *= static_cast<std::uint64_t>(extent);
  out.row = static_cast<std::uint64_t>(shape.empty() ? 1 : shape.back());
  out.lines = static_cast<std::uint64_t>(shape.size() < 2 ? 1 : shape[shape.size() - 2]);
  out.odd = kNoElement;
  out.scale = 1;
  if (const auto rule = element_rule(spec, arg, workload, 0)) {
    out.scale = spread_of(*rule);
    out.nonnegative = is_nonnegative(*rule);
  }
  return out;
}

bool draws_each_alone(const TensorSpec& content) {
  const auto* const rule = std::get_if<InitRule>(&content.content);
  using Kind = InitRule::Kind;
  return rule != nullptr && (rule->kind == Kind::randn || rule->kind == Kind::uniform || rule->kind == Kind::randint);
}

bool changes(InputFamily family, const KernelSpec& spec, const ArgSpec& arg, const Workload& workload) {
  if (family == InputFamily::as_declared) return false;
  const TensorSpec content = spec.tensor_of(arg, workload);
  if (info(content.dtype).is_float) return true;
  constexpr std::size_t kExact = 4;  // bytes of an integer that a double holds
  return draws_each_alone(content) && is_of_own_values(family) && info(content.dtype).size_bytes <= kExact;
}

bool applies(const FamilyRule& rule) {
  if (rule.family == InputFamily::as_declared || rule.elements == 0) return false;
  return info(rule.dtype).is_float || is_of_own_values(rule.family);
}

void apply_family(Tensor& tensor, const FamilyRule& rule) {
  if (!applies(rule)) return;
  for (std::uint64_t i = 0; i < rule.elements; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const auto source = static_cast<std::int64_t>(portable::family_source(rule, i));
    tensor.set(at, portable::family_value(rule, i, tensor.at(at), tensor.at(source)));
  }
}

}  // namespace warpath
