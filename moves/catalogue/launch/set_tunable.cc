#include <algorithm>
#include <cstddef>

#include "engine/base/ascii.h"
#include "engine/plugin/move.h"
#include "register_moves.h"

namespace warpath {
namespace {

constexpr std::string_view kTunablePrefix = "tunable:";
constexpr std::size_t kListAll = 8;

const Tunable* find_tunable(const KernelSpec& spec, std::string_view site) {
  if (!site.starts_with(kTunablePrefix)) return nullptr;
  site.remove_prefix(kTunablePrefix.size());
  const auto it = std::find_if(spec.tunables.begin(), spec.tunables.end(),
                               [&](const Tunable& t) { return t.name == site; });
  return it == spec.tunables.end() ? nullptr : &*it;
}

/// True if `word` occurs in the text as a whole word; comments count.
bool has_word(std::string_view text, std::string_view word) {
  const auto in_name = [&](std::size_t at) { return at < text.size() && is_word(text[at]); };
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    if ((at == 0 || !in_name(at - 1)) && !in_name(at + word.size())) return true;
  }
  return false;
}

bool depends_on(const LaunchPlan& plan, std::string_view tunable) {
  const auto names = [&](const Expression& e) { return has_word(e.text(), tunable); };
  return std::ranges::any_of(plan.grid, names) || std::ranges::any_of(plan.block, names) ||
         std::ranges::any_of(plan.cluster, names) || names(plan.dynamic_smem_bytes);
}

/// True if the tunable's name occurs in anything that is compiled or launched.
bool depends_on(const Variant& variant, std::string_view tunable) {
  const auto step_does = [&](const LaunchStep& step) { return depends_on(step.launch, tunable); };
  return has_word(variant.source, tunable) || has_word(variant.kernel_name, tunable) ||
         depends_on(variant.launch, tunable) ||
         std::ranges::any_of(
             variant.compiler_options,
             [&](const std::string& option) { return has_word(option, tunable); }) ||
         std::ranges::any_of(variant.scratch,
                             [&](const ScratchBuffer& buffer) {
                               return has_word(buffer.size_bytes.text(), tunable);
                             }) ||
         std::ranges::any_of(variant.before, step_does) ||
         std::ranges::any_of(variant.after, step_does);
}

/// True if the spec's kernel depends on the tunable and the variant no longer does, so that all
/// values give the same kernel.
bool is_left_behind(const MoveContext& context, std::string_view tunable) {
  const bool own_plan = std::ranges::any_of(context.spec.workloads, [&](const Workload& w) {
    return w.launch && depends_on(*w.launch, tunable);
  });
  return !own_plan && !depends_on(context.variant, tunable) &&
         depends_on(baseline_variant(context.spec), tunable);
}

bool is_power_of_two(std::size_t n) {
  return (n & (n - 1)) == 0;
}

/// Other values, nearest rank first, the larger first at equal distance. Up to kListAll values: all
/// of them. Beyond: those 1, 2, 4, ... ranks away, so that any value is a few steps from any other.
std::vector<std::int64_t> steps_from(const Tunable& tunable, std::int64_t current) {
  const auto& values = tunable.values;
  const auto here = static_cast<std::size_t>(
      std::lower_bound(values.begin(), values.end(), current) - values.begin());
  std::vector<std::int64_t> out;
  for (std::size_t distance = 0; distance < values.size(); ++distance) {
    if (values.size() > kListAll && !is_power_of_two(distance)) continue;
    // A current value that is not in the list (from a foreign proposal) counts as the next larger
    // one.
    if (here + distance < values.size() && values[here + distance] != current)
      out.push_back(values[here + distance]);
    if (distance > 0 && distance <= here) out.push_back(values[here - distance]);
  }
  return out;
}

/// Changes tunables of the spec, which the source and the launch plan see as macros and names:
/// proposes one at a time, applies several as well.
class SetTunable final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return kSetTunable; }
  [[nodiscard]] bool reads_source() const override { return false; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    for (const Tunable& tunable : context.spec.tunables) {
      const auto current = context.variant.tunables.find(tunable.name);
      if (current == context.variant.tunables.end() || is_left_behind(context, tunable.name))
        continue;
      for (const std::int64_t value : steps_from(tunable, current->second))
        out.push_back(instance(tunable.name, value));
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext& context,
                                            std::string_view site) const override {
    const Tunable* const tunable = find_tunable(context.spec, site);
    if (tunable == nullptr) return {};
    return {Tunable{"value", tunable->values, tunable->default_value, tunable->help}};
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& instance,
                                             std::string& why) const override {
    if (instance.site.empty()) return apply_all(context, instance, why);
    const Tunable* const tunable = find_tunable(context.spec, instance.site);
    if (tunable == nullptr) return why = "the spec has no " + instance.site, std::nullopt;
    const auto value = instance.parameters.find("value");
    if (value == instance.parameters.end() || instance.parameters.size() != 1) {
      return why = "set_tunable takes one parameter, value", std::nullopt;
    }
    if (!std::binary_search(tunable->values.begin(), tunable->values.end(), value->second)) {
      return why = std::to_string(value->second) + " is no value of " + tunable->name, std::nullopt;
    }
    const auto current = context.variant.tunables.find(tunable->name);
    if (current == context.variant.tunables.end())
      return why = "the variant no longer has " + tunable->name, std::nullopt;
    if (current->second == value->second)
      return why = tunable->name + " has this value already", std::nullopt;
    if (is_left_behind(context, tunable->name))
      return why = "nothing depends on " + tunable->name + " any more", std::nullopt;
    Variant out = context.variant;
    out.tunables[tunable->name] = value->second;
    return out;
  }

  [[nodiscard]] std::optional<MoveInstance> inverse(const MoveContext& context,
                                                    const MoveInstance& done) const override {
    if (done.site.empty()) return inverse_all(context, done);
    const Tunable* const tunable = find_tunable(context.spec, done.site);
    if (tunable == nullptr) return std::nullopt;
    const auto current = context.variant.tunables.find(tunable->name);
    if (current == context.variant.tunables.end()) return std::nullopt;
    if (!std::binary_search(tunable->values.begin(), tunable->values.end(), current->second))
      return std::nullopt;
    return instance(tunable->name, current->second);
  }

 private:
  /// Without a site: several tunables at once, parameters by their names.
  static std::optional<Variant> apply_all(const MoveContext& context,
                                          const MoveInstance& instance,
                                          std::string& why) {
    if (instance.parameters.empty())
      return why = "set_tunable without a site takes values by tunable", std::nullopt;
    Variant out = context.variant;
    for (const auto& [name, value] : instance.parameters) {
      const Tunable* const tunable = find_tunable(context.spec, std::string(kTunablePrefix) + name);
      const auto current = out.tunables.find(name);
      if (tunable == nullptr || current == out.tunables.end())
        return why = "there is no tunable " + name, std::nullopt;
      if (!std::binary_search(tunable->values.begin(), tunable->values.end(), value)) {
        return why = std::to_string(value) + " is no value of " + name, std::nullopt;
      }
      current->second = value;
    }
    if (out.tunables == context.variant.tunables)
      return why = "the tunables have these values already", std::nullopt;
    return out;
  }

  static std::optional<MoveInstance> inverse_all(const MoveContext& context,
                                                 const MoveInstance& done) {
    MoveInstance out{.move = done.move, .site = "", .parameters = {}};
    for (const auto& [name, value] : done.parameters) {
      const auto current = context.variant.tunables.find(name);
      if (current == context.variant.tunables.end()) return std::nullopt;
      out.parameters[name] = current->second;
    }
    return out;
  }

  static MoveInstance instance(const std::string& tunable, std::int64_t value) {
    return {std::string(kSetTunable), std::string(kTunablePrefix) + tunable, {{"value", value}}};
  }
};

}  // namespace

void register_move_set_tunable(MoveRegistry& registry) {
  registry.add(std::string(kSetTunable), "set one tunable of the spec to another of its values",
               [] { return std::make_unique<SetTunable>(); });
}

}  // namespace warpath
