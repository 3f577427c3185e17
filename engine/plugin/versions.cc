#include "engine/plugin/versions.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/plugin/runner.h"

namespace warpath {
namespace {

Bindings chosen(const Bindings& sizes, const std::set<std::string>& names) {
  Bindings out;
  for (const auto& [name, value] : sizes) {
    if (names.contains(name)) out.emplace(name, value);
  }
  return out;
}

/// Distinct values, in order of first appearance.
std::vector<Bindings> distinct(const std::vector<Bindings>& sizes) {
  std::vector<Bindings> out;
  for (const Bindings& one : sizes) {
    if (std::ranges::find(out, one) == out.end()) out.push_back(one);
  }
  return out;
}

/// The sizes without those arguments that give them too many values; empty if all do.
std::vector<Bindings> grouped(const std::vector<Bindings>& sizes) {
  constexpr std::size_t kMostArguments = 10;
  std::set<std::string> constant;
  std::vector<std::string> varying;
  for (const auto& [name, value] : sizes.front()) {
    const bool same = std::ranges::all_of(sizes, [&n = name, v = value](const Bindings& one) {
      const auto it = one.find(n);
      return it != one.end() && it->second == v;
    });
    same ? static_cast<void>(constant.insert(name)) : varying.push_back(name);
  }
  if (varying.size() > kMostArguments) return {};
  std::vector<Bindings> best;
  std::size_t most = 0;
  for (std::uint32_t chosen_set = 1; chosen_set < 1U << varying.size(); ++chosen_set) {
    std::set<std::string> names = constant;
    for (std::size_t i = 0; i < varying.size(); ++i) {
      if ((chosen_set >> i & 1U) != 0) names.insert(varying[i]);
    }
    std::vector<Bindings> projected;
    for (const Bindings& one : sizes) projected.push_back(chosen(one, names));
    projected = distinct(projected);
    if (projected.size() > kMostVersions || names.size() <= most) continue;
    most = names.size();
    best = std::move(projected);
  }
  return best;
}

bool same_kernel(const Variant& a, const Variant& b) {
  return alone(a) == alone(b);
}

class VersionedMove final : public Move {
 public:
  explicit VersionedMove(std::unique_ptr<Move> move) : move_(std::move(move)) {}
  [[nodiscard]] std::string_view name() const override { return move_->name(); }
  [[nodiscard]] bool structural() const override { return move_->structural(); }
  [[nodiscard]] bool reads_source() const override { return move_->reads_source(); }
  [[nodiscard]] bool polishes() const override { return move_->polishes(); }
  [[nodiscard]] bool makes_versions() const override { return true; }

  /// Of all versions, those of a site together.
  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    if (!understands(context.spec)) return {};
    const std::vector<Variant> kernels = changed_kernels(context);
    if (kernels.empty()) return move_->enumerate(context);
    std::vector<MoveInstance> out;
    for (const Variant& kernel : kernels) {
      for (MoveInstance& instance : move_->enumerate(of(context, kernel))) {
        if (std::ranges::find(out, instance) != out.end()) continue;
        const auto last = std::find_if(out.rbegin(), out.rend(), [&](const MoveInstance& known) {
          return known.site == instance.site;
        });
        out.insert(last == out.rend() ? out.end() : last.base(), std::move(instance));
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext& context,
                                            std::string_view site) const override {
    if (!understands(context.spec)) return {};
    const std::vector<Variant> kernels = changed_kernels(context);
    if (kernels.empty()) return move_->domain(context, site);
    std::vector<Tunable> out;
    for (const Variant& kernel : kernels) {
      for (Tunable& tunable : move_->domain(of(context, kernel), site)) {
        const auto known = std::ranges::find(out, tunable.name, &Tunable::name);
        if (known == out.end()) {
          out.push_back(std::move(tunable));
          continue;
        }
        std::set<std::int64_t> values(known->values.begin(), known->values.end());
        values.insert(tunable.values.begin(), tunable.values.end());
        known->values.assign(values.begin(), values.end());
      }
    }
    return out;
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& instance,
                                             std::string& why) const override {
    if (!understands(context.spec))
      return why = "the move reads CUDA C++, and the kernel is in another language", std::nullopt;
    const std::vector<Bindings> sizes = version_sizes(context.spec, context.device);
    if (!context.variant.versions.empty()) return apply_to_versions(context, instance, why);
    if (sizes.empty() || !context.variant.when.empty()) return move_->apply(context, instance, why);
    return apply_to_sizes(context, sizes, instance, why);
  }

  [[nodiscard]] std::optional<MoveInstance> inverse(const MoveContext& context,
                                                    const MoveInstance& instance) const override {
    if (!understands(context.spec)) return std::nullopt;
    const std::vector<Variant> kernels = changed_kernels(context);
    if (kernels.empty()) return move_->inverse(context, instance);
    // Versions on which the move had no effect would be changed by the way back.
    const auto back = move_->inverse(of(context, kernels.front()), instance);
    std::string why;
    if (!back) return std::nullopt;
    const auto there = apply(context, instance, why);
    if (!there) return std::nullopt;
    const auto again = apply(of(context, *there), *back, why);
    return again && variant_key(*again) == variant_key(context.variant) ? back : std::nullopt;
  }

 private:
  [[nodiscard]] bool understands(const KernelSpec& spec) const {
    return spec.kernel_type == KernelType::cuda || !move_->reads_source();
  }

  static MoveContext of(const MoveContext& context, const Variant& variant) {
    return {.spec = context.spec, .variant = variant, .device = context.device};
  }

  static bool is_scored(const MoveContext& context, const Variant& whole, const Variant& kernel) {
    return std::ranges::any_of(workloads_for(context.spec, context.device), [&](const Workload* w) {
      return w->role == WorkloadRole::score && &version_for(context.spec, whole, *w) == &kernel;
    });
  }

  /// The kernels that a move is put to, each without versions; the one for all sizes first while
  /// there is only one. Empty: it is put to the variant as it is.
  static std::vector<Variant> changed_kernels(const MoveContext& context) {
    std::vector<Variant> out;
    const Variant& whole = context.variant;
    if (whole.versions.empty()) {
      if (!whole.when.empty()) return out;
      for (Bindings& when : version_sizes(context.spec, context.device)) {
        if (out.empty()) out.push_back(whole);
        out.push_back(whole);
        out.back().when = std::move(when);
      }
      return out;
    }
    for (const Variant* const kernel : kernels_of(whole)) {
      if (kernel->when.empty() && !is_scored(context, whole, *kernel)) continue;
      out.push_back(*kernel);
      out.back().versions.clear();
    }
    return out;
  }

  /// The result for the sizes of one kernel; none where it breaks a constraint of the spec there.
  [[nodiscard]] std::optional<Variant> legal(const MoveContext& context,
                                             const MoveInstance& instance,
                                             std::string& why) const {
    std::optional<Variant> out = move_->apply(context, instance, why);
    if (!out) return out;
    out->when = context.variant.when;
    return satisfies_constraints(context.spec, *out, why) ? out : std::nullopt;
  }

  [[nodiscard]] std::optional<Variant> apply_to_sizes(const MoveContext& context,
                                                      const std::vector<Bindings>& sizes,
                                                      const MoveInstance& instance,
                                                      std::string& why) const {
    const Variant& before = context.variant;
    std::optional<Variant> whole = move_->apply(context, instance, why);
    std::string broken;
    const bool lawful = whole && satisfies_constraints(context.spec, *whole, broken);
    std::vector<Variant> kernels;
    bool differs = false;
    for (const Bindings& when : sizes) {
      Variant kernel = before;
      kernel.when = when;
      std::string why_not;
      std::optional<Variant> own = legal(of(context, kernel), instance, why_not);
      if (own && (!whole || !lawful || !same_kernel(*own, *whole))) differs = true;
      kernels.push_back(own ? *std::move(own) : alone(whole && lawful ? *whole : before));
      kernels.back().when = when;
    }
    if (!differs) return whole;
    Variant out = assembled(std::move(kernels), before);
    if (lawful && is_scored(context, out, out.versions.back()))
      out.versions.back() = *std::move(whole);
    return out;
  }

  [[nodiscard]] std::optional<Variant> apply_to_versions(const MoveContext& context,
                                                         const MoveInstance& instance,
                                                         std::string& why) const {
    const Variant& whole = context.variant;
    std::vector<Variant> kernels;
    bool changed = false;
    why.clear();
    for (const Variant* const kernel : kernels_of(whole)) {
      Variant one = *kernel;
      one.versions.clear();
      if (!kernel->when.empty() || is_scored(context, whole, *kernel)) {
        std::string why_not;
        if (auto next = legal(of(context, one), instance, why_not)) {
          one = *std::move(next);
          changed = true;
        } else if (why.empty()) {
          why = why_not;
        }
      }
      kernels.push_back(std::move(one));
    }
    if (!changed) return std::nullopt;
    Variant general = std::move(kernels.back());
    kernels.pop_back();
    return assembled(std::move(kernels), std::move(general));
  }

  /// One kernel if all are the same.
  static Variant assembled(std::vector<Variant> kernels, Variant general) {
    if (std::ranges::all_of(kernels, [&](const Variant& k) { return same_kernel(k, general); }))
      return alone(std::move(general));
    Variant out = std::move(kernels.front());
    out.versions.assign(std::make_move_iterator(kernels.begin() + 1),
                        std::make_move_iterator(kernels.end()));
    out.versions.push_back(alone(std::move(general)));
    return out;
  }

  std::unique_ptr<Move> move_;
};

}  // namespace

Bindings sizes_of(const KernelSpec& spec, const Workload& workload) {
  Bindings out;
  const Bindings values = spec.bindings(workload, {});
  for (const ArgSpec& arg : spec.io.args) {
    const auto it = values.find(arg.name);
    if (arg.type != ArgType::tensor && it != values.end()) out.insert(*it);
  }
  return out;
}

std::vector<Bindings> version_sizes(const KernelSpec& spec, const DeviceFacts& device) {
  const std::vector<const Workload*> workloads = workloads_for(spec, device);
  std::vector<Bindings> all, scored;
  std::map<Bindings, double> weights;
  for (const Workload* const workload : workloads) {
    all.push_back(sizes_of(spec, *workload));
    if (workload->role != WorkloadRole::score) continue;
    scored.push_back(all.back());
    weights[all.back()] += workload->weight;
  }
  if (distinct(all).size() < 2) return {};
  scored = distinct(scored);
  if (scored.size() <= kMostVersions) return scored;
  if (std::vector<Bindings> groups = grouped(scored); !groups.empty()) return groups;
  std::ranges::stable_sort(
      scored, [&](const Bindings& a, const Bindings& b) { return weights.at(a) > weights.at(b); });
  scored.resize(kMostVersions);
  return scored;
}

std::unique_ptr<Move> with_versions(std::unique_ptr<Move> move) {
  if (move->makes_versions()) return move;
  return std::make_unique<VersionedMove>(std::move(move));
}

void MoveRegistry::add(const std::string& name, const std::string& help, Factory make) {
  Registry::add(name, help, [make = std::move(make)] { return with_versions(make()); });
}

}  // namespace warpath
