#include "runners/inputs/input_family.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "engine/portable/family_word.h"
#include "engine/spec/tensor_init.h"
#include "runners/inputs/accumulation.h"
#include "runners/inputs/arguments.h"
#include "runners/inputs/column_indices.h"
#include "runners/inputs/exponentials.h"
#include "runners/inputs/made_integers.h"
#include "runners/inputs/nan_tests.h"

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

/// Families that multiply all tensors by one factor, or a line of each.
bool is_scaled(InputFamily family) {
  return family == InputFamily::tiny || family == InputFamily::huge ||
         family == InputFamily::faint || family == InputFamily::other_scalars;
}

/// Floating-point numbers drawn from [low, high).
bool is_uniform(const ElementRule& rule) {
  return rule.kind == ElementRule::Kind::uniform && info(rule.dtype).is_float;
}

/// Some inputs are drawn from one side of zero, others from around it: the former may have to
/// outweigh the latter, as a diagonal does, so that all keep to their ranges.
bool outweighs(const KernelSpec& spec, const Workload& workload) {
  bool has_side = false, has_both_sides = false;
  for (const ArgSpec& arg : spec.io.args) {
    if (arg.type != ArgType::tensor || arg.role == ArgRole::output) continue;
    const auto rule = element_rule(spec, arg, workload, 0);
    if (!rule || !is_uniform(*rule)) continue;
    const double end = rule->first + rule->second;
    has_side = has_side || rule->first * end > 0;
    has_both_sides = has_both_sides || rule->first * end < 0;
  }
  return has_side && has_both_sides;
}

/// Sets the bounds of `out` where floating-point numbers are drawn from one side of zero: they may
/// be divided by, or have a logarithm, and are finite.
/// Structures stay between the rule's own ends, as what is near the ends of the type's range does,
/// and `keeps_range` says that all do.
void bound(FamilyRule& out, const ElementRule& rule, bool keeps_range) {
  if (!is_uniform(rule)) return;
  const double end = rule.first + rule.second;
  if (rule.first * end <= 0 && !keeps_range) return;
  if (is_structure(out.family) || is_near_range_end(out.family) ||
      out.family == InputFamily::specials || keeps_range) {
    out.low = std::min(rule.first, end), out.high = std::max(rule.first, end);
    return;
  }
  const double least = rule.dtype == DType::f64   ? 0x1p-1022
                       : rule.dtype == DType::f16 ? 0x1p-14
                                                  : 0x1p-126;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  out.low = rule.first > 0 ? least : -kInfinity;
  out.high = rule.first > 0 ? kInfinity : -least;
}

/// Of integers: what the rule draws from.
struct IntegerRange {
  double least = 0, greatest = 0;
  bool all = false;  ///< all values of the type
  [[nodiscard]] bool holds_zero() const { return least <= 0 && greatest >= 0; }
};

/// None where the rule says nothing of the kind, or a double does not hold its values, of which it
/// has not all.
std::optional<IntegerRange> integer_range(const ElementRule& rule) {
  const DTypeInfo& type = info(rule.dtype);
  if (type.is_float) return std::nullopt;
  IntegerRange out;
  if (rule.kind == ElementRule::Kind::random_bits) {
    const double values =
        rule.dtype == DType::boolean ? 2 : std::ldexp(1, static_cast<int>(8 * type.size_bytes));
    out = {.least = type.is_signed ? -values / 2 : 0, .all = rule.dtype != DType::boolean};
    out.greatest = out.least + values - 1;
    return out;
  }
  if (rule.kind == ElementRule::Kind::floor_uniform) {
    out.least = std::floor(rule.first);
    out.greatest = std::ceil(rule.first + rule.second) - 1;
  } else if (rule.kind == ElementRule::Kind::integer && rule.range > 0) {
    out.least = static_cast<double>(static_cast<std::int64_t>(rule.base));
    out.greatest = out.least + static_cast<double>(rule.range) - 1;
  } else {
    return std::nullopt;
  }
  constexpr double kExact = 0x1p53;
  if (out.least < -kExact || out.greatest > kExact) return std::nullopt;
  return out;
}

/// The start of an arange of step 1; nullopt for other contents.
std::optional<double> counted_from(const TensorSpec& content) {
  const auto* const rule = std::get_if<InitRule>(&content.content);
  const bool counts = rule != nullptr && rule->kind == InitRule::Kind::arange && rule->step == 1;
  return counts ? std::optional(static_cast<double>(rule->start)) : std::nullopt;
}

/// The tensor whose first dimension the elements of an arange index, consecutive from its start;
/// null for other contents, and where another arange goes on from elsewhere: these are begins and
/// ends of ranges.
const ArgSpec* counted_through(const KernelSpec& spec, const TensorSpec& content) {
  const auto start = counted_from(content);
  if (!start || *start < 0 || content.indexes.empty()) return nullptr;
  const bool has_ends = std::ranges::any_of(spec.io.args, [&](const ArgSpec& other) {
    const auto own = other.tensor && other.tensor->indexes == content.indexes
                         ? counted_from(*other.tensor)
                         : std::nullopt;
    return own && *own != *start;
  });
  return has_ends ? nullptr : spec.io.find(content.indexes);
}

/// Results may go where these indices of `target` say: a written tensor is as long.
bool may_place_results(const KernelSpec& spec, const ArgSpec& target, const Workload& workload) {
  const auto extent = [&](const ArgSpec& arg) {
    const std::vector<std::int64_t> extents = spec.shape_of(arg, workload);
    return extents.empty() ? 1 : extents.front();
  };
  const std::int64_t own = extent(target);
  return std::ranges::any_of(spec.io.args, [&](const ArgSpec& arg) {
    return arg.type == ArgType::tensor && arg.role != ArgRole::input && extent(arg) == own;
  });
}

/// Of an integer tensor whose elements may each be changed alone: the values that they may have.
/// Those that are drawn have the values of their rule; places in a tensor that is only read may be
/// any of it, also where the spec counts through them; sums may begin anywhere.
std::optional<IntegerRange> free_range(const KernelSpec& spec,
                                       const ArgSpec& arg,
                                       const Workload& workload,
                                       const TensorSpec& content) {
  if (info(content.dtype).is_float) return std::nullopt;
  const auto rule = element_rule(spec, arg, workload, 0);
  if (!rule) return std::nullopt;
  if (draws_each_alone(content)) return integer_range(*rule);
  if (const ArgSpec* const target = counted_through(spec, content);
      target != nullptr && !may_place_results(spec, *target, workload)) {
    const std::vector<std::int64_t> extents = spec.shape_of(*target, workload);
    return IntegerRange{.least = 0,
                        .greatest = static_cast<double>(extents.empty() ? 1 : extents.front()) - 1};
  }
  // A mask that excludes nothing, or all.
  if (rule->kind == ElementRule::Kind::constant && content.dtype == DType::boolean &&
      arg.role == ArgRole::input)
    return IntegerRange{.least = 0, .greatest = 1};
  constexpr double kMostBefore = 100;
  if (rule->kind == ElementRule::Kind::constant && content.dtype != DType::boolean &&
      rule->first >= -kMostBefore / 4 && rule->first <= kMostBefore / 4 &&
      only_accumulates(spec, arg))
    return IntegerRange{.least = rule->first, .greatest = rule->first + kMostBefore};
  return std::nullopt;
}

/// A tensor of zeros and ones, drawn each alone.
bool is_mask(const KernelSpec& spec, const ArgSpec& arg, const Workload& workload) {
  if (arg.type != ArgType::tensor || arg.role != ArgRole::input) return false;
  const TensorSpec content = spec.tensor_of(arg, workload);
  if (!draws_each_alone(content)) return false;
  if (content.dtype == DType::boolean) return true;
  const auto rule = element_rule(spec, arg, workload, 0);
  return rule && rule->kind == ElementRule::Kind::integer && rule->base == 0 && rule->range == 2;
}

/// Begins of ranges.
bool are_offsets(const TensorSpec& content) {
  const auto* const rule = std::get_if<InitRule>(&content.content);
  return rule != nullptr && rule->kind == InitRule::Kind::csr_row_pointers;
}

/// Integers that say which lines of other tensors count: begins of ranges, or places from -1 on,
/// which is none.
bool leaves_out(const KernelSpec& spec, const ArgSpec& arg, const Workload& workload) {
  if (arg.type != ArgType::tensor || arg.role != ArgRole::input) return false;
  const TensorSpec content = spec.tensor_of(arg, workload);
  if (are_offsets(content)) return true;
  const auto range = draws_each_alone(content) ? free_range(spec, arg, workload, content)
                                               : std::optional<IntegerRange>();
  return range && !range->all && range->least == -1 && range->greatest > 1;
}

/// Families of floating-point tensors that say something about some kernels only.
bool concerns(InputFamily family,
              const KernelSpec& spec,
              const ArgSpec& arg,
              const Workload& workload) {
  if (family == InputFamily::not_a_number) return looks_for_nan(spec);
  // The rounding of an argument of such a size is all that an exponential tells.
  if (family == InputFamily::outlier) return !takes_exponentials(spec);
  if (family == InputFamily::few_infinite_lines)
    return std::ranges::any_of(
        spec.io.args, [&](const ArgSpec& other) { return leaves_out(spec, other, workload); });
  // The mean of one number is that number, and no maximum.
  if (family == InputFamily::bottom) {
    const std::vector<std::int64_t> shape = spec.shape_of(arg, workload);
    return std::ranges::any_of(shape.size() < 2 ? shape.begin() : shape.end() - 2, shape.end(),
                               [](std::int64_t extent) { return extent > 1; });
  }
  if (family != InputFamily::masked_infinities) return true;
  return !is_mask(spec, arg, workload) &&
         std::ranges::any_of(spec.io.args,
                             [&](const ArgSpec& other) { return is_mask(spec, other, workload); });
}

/// Families that take a tensor's own values and zeros alone.
bool is_of_own_values_and_zeros(InputFamily family) {
  return family == InputFamily::zero_block || family == InputFamily::sparse ||
         family == InputFamily::lone;
}

/// Families that take values of the tensor's rule alone.
bool is_of_own_values(InputFamily family) {
  return family == InputFamily::constant || family == InputFamily::one_value ||
         family == InputFamily::repeated_tile || family == InputFamily::half_copy ||
         family == InputFamily::regular || family == InputFamily::extremes ||
         family == InputFamily::alike;
}

/// Families that change an integer's sign alone.
bool is_of_one_sign(InputFamily family) {
  return family == InputFamily::at_most_zero || family == InputFamily::at_least_zero;
}

/// Families that give integers the values of their range in order.
bool is_in_order(InputFamily family) {
  return family == InputFamily::identity || family == InputFamily::ascending;
}

/// How many columns there are beside these row pointers: those of a row are distinct. Infinity
/// where no column indices depend on them.
double columns_beside(const KernelSpec& spec,
                      const ArgSpec& row_pointers,
                      const Workload& workload) {
  double out = std::numeric_limits<double>::infinity();
  for (const ArgSpec& arg : spec.io.args) {
    if (const auto columns = number_of_columns(spec, arg, workload, row_pointers.name))
      out = std::min(out, static_cast<double>(*columns));
  }
  return out;
}

/// What depends on what in a tensor's elements, if other arrangements keep the kernel's
/// preconditions. Of offsets one in eight ranges may have all elements (InputFamily::ascending).
Arrangement arrangement_of(const KernelSpec& spec,
                           const ArgSpec& arg,
                           const TensorSpec& content,
                           const Workload& workload) {
  const auto* const rule = std::get_if<InitRule>(&content.content);
  if (rule == nullptr) return Arrangement::none;
  if (rule->kind == InitRule::Kind::permutation) return Arrangement::permutation;
  // Places that results go to are distinct, and stay so. A tensor that is read and written may be
  // read elsewhere, where another thread writes.
  if (const ArgSpec* const target = counted_through(spec, content);
      target != nullptr && may_place_results(spec, *target, workload))
    return rule->start == 0 && content.shape.size() == 1 &&
                   (target->role != ArgRole::inout || only_stores(spec, *target))
               ? Arrangement::permutation
               : Arrangement::none;
  return are_offsets(content) && 8 * rule->mean <= columns_beside(spec, arg, workload)
             ? Arrangement::offsets
             : Arrangement::none;
}

bool arranges(Arrangement arrangement, InputFamily family) {
  return arrangement == Arrangement::permutation
             ? family == InputFamily::identity || family == InputFamily::permutation
             : arrangement == Arrangement::offsets && family == InputFamily::ascending;
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
  out.common_seed = seed;
  out.seed = seed;  // of this argument: the rare values of two inputs lie at different places
  for (const char c : arg.name) out.seed = portable::mix(out.seed ^ static_cast<unsigned char>(c));
  out.elements = 1;
  for (const std::int64_t extent : shape) out.elements *= static_cast<std::uint64_t>(extent);
  out.row = static_cast<std::uint64_t>(shape.empty() ? 1 : shape.back());
  out.lines = static_cast<std::uint64_t>(shape.size() < 2 ? 1 : shape[shape.size() - 2]);
  out.odd = kNoElement;
  out.finite_sides = makes_places(spec.source);
  out.scale = 1;
  out.arrangement = arrangement_of(spec, arg, content, workload);
  if (out.arrangement == Arrangement::offsets) {
    constexpr double kMost = 8192;  // a kernel may give a row to a single thread
    out.longest = std::min(kMost, columns_beside(spec, arg, workload));
    out.greatest = std::floor(
        static_cast<double>(out.elements - 1) * std::get<InitRule>(content.content).mean + 0.5);
  }
  if (const auto rule = element_rule(spec, arg, workload, 0)) {
    out.scale = spread_of(*rule);
    out.nonnegative = is_nonnegative(*rule);
    bound(out, *rule,
          makes_places(spec.source) || (!is_scaled(family) && outweighs(spec, workload)));
    if (const auto range = free_range(spec, arg, workload, content)) {
      out.holds_zero = range->holds_zero();
      out.holds_all = range->all;
      out.least = range->least;
      out.greatest = range->greatest;
    }
  }
  for (const ArgSpec& scalar : spec.io.args) {
    if (scalar.type != ArgType::floating) continue;
    const auto value = scalar_value(scalar, workload);
    const double* const real = value ? std::get_if<double>(&*value) : nullptr;
    if (real != nullptr && out.landmark_count < static_cast<int>(std::size(out.landmarks)))
      out.landmarks[out.landmark_count++] = *real;
  }
  return out;
}

bool draws_each_alone(const TensorSpec& content) {
  const auto* const rule = std::get_if<InitRule>(&content.content);
  using Kind = InitRule::Kind;
  return rule != nullptr &&
         (rule->kind == Kind::randn || rule->kind == Kind::uniform || rule->kind == Kind::randint);
}

bool has_integer_factors(const KernelSpec& spec, const Workload& workload) {
  return std::ranges::any_of(spec.io.args, [&](const ArgSpec& arg) {
    if (arg.type != ArgType::tensor || arg.role == ArgRole::output) return false;
    const TensorSpec content = spec.tensor_of(arg, workload);
    const DTypeInfo& type = info(content.dtype);
    if (type.is_float || type.size_bytes > 2 || content.dtype == DType::boolean ||
        !content.indexes.empty() || !draws_each_alone(content))
      return false;
    const auto range = free_range(spec, arg, workload, content);
    return range && range->greatest - range->least > 1;
  });
}

bool changes(InputFamily family,
             const KernelSpec& spec,
             const ArgSpec& arg,
             const Workload& workload) {
  if (family == InputFamily::as_declared) return false;
  if (arg.role == ArgRole::inout && is_untouched(spec, arg)) return false;
  const TensorSpec content = spec.tensor_of(arg, workload);
  if (info(content.dtype).is_float)
    return family != InputFamily::extremes && concerns(family, spec, arg, workload);
  if (const Arrangement own = arrangement_of(spec, arg, content, workload);
      own != Arrangement::none)
    return arranges(own, family);
  const auto range = free_range(spec, arg, workload, content);
  const bool is_wide = range && range->all && info(content.dtype).size_bytes == 8;
  return range &&
         (is_of_own_values(family) || (is_of_one_sign(family) && range->all && range->least < 0) ||
          (is_in_order(family) && !is_wide) ||
          (is_of_own_values_and_zeros(family) && range->holds_zero()));
}

bool applies(const FamilyRule& rule) {
  if (rule.family == InputFamily::as_declared || rule.elements == 0) return false;
  if (info(rule.dtype).is_float) return rule.family != InputFamily::extremes;
  if (rule.arrangement != Arrangement::none) return arranges(rule.arrangement, rule.family);
  return is_of_own_values(rule.family) ||
         (is_of_one_sign(rule.family) && rule.holds_all && rule.least < 0) ||
         (is_in_order(rule.family) && rule.least < rule.greatest &&
          !portable::is_wide_integer(rule)) ||
         (is_of_own_values_and_zeros(rule.family) && rule.holds_zero);
}

void apply_family(Tensor& tensor, const FamilyRule& rule) {
  if (!applies(rule)) return;
  if (portable::is_wide_integer(rule)) {
    std::vector<std::uint64_t> words(rule.elements);
    const std::size_t size = words.size() * sizeof words[0];
    std::memcpy(words.data(), tensor.bytes.data(), size);
    const std::vector<std::uint64_t> own = words;
    for (std::uint64_t i = 0; i < rule.elements; ++i)
      words[i] = portable::family_word(rule, i, own[i], own[portable::family_source(rule, i)]);
    std::memcpy(tensor.bytes.data(), words.data(), size);
    return;
  }
  for (std::uint64_t i = 0; i < rule.elements; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const auto source = static_cast<std::int64_t>(portable::family_source(rule, i));
    tensor.set(at, portable::family_value(rule, i, tensor.at(at), tensor.at(source)));
  }
}

}  // namespace warpath
