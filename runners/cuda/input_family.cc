#include "runners/cuda/input_family.h"

#include <cmath>

#include "engine/tensor_init.h"
#include "runners/cuda/device_code/family.h"

namespace warpath::cuda {
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

}  // namespace

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
  return draws_each_alone(content) && family == InputFamily::constant && info(content.dtype).size_bytes <= kExact;
}

bool applies(const FamilyRule& rule) {
  if (rule.family == InputFamily::as_declared || rule.elements == 0) return false;
  return info(rule.dtype).is_float || rule.family == InputFamily::constant;
}

void apply_family(Tensor& tensor, const FamilyRule& rule) {
  if (!applies(rule)) return;
  const double chosen = tensor.at(static_cast<std::int64_t>(chosen_element(rule)));
  for (std::uint64_t i = 0; i < rule.elements; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    tensor.set(at, family_value(rule, i, tensor.at(at), chosen));
  }
}

}  // namespace warpath::cuda
