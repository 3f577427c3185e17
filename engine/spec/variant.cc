#include "engine/spec/variant.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "engine/base/ascii.h"
#include "engine/base/error.h"
#include "engine/text/source_key.h"

namespace warpath {
namespace {

/// Every name in `text`: macro definitions among compiler options, template arguments of a name
/// expression.
void add_names(std::string_view text, std::set<std::string, std::less<>>& names) {
  const auto in_name = [](char c) { return is_word(c) || c == '$'; };
  for (auto it = text.begin(); it != text.end();) {
    const auto begin = std::find_if(it, text.end(), in_name);
    it = std::find_if_not(begin, text.end(), in_name);
    if (begin != it) names.emplace(begin, it);
  }
}

/// Triton or PTX: it imports a module, or begins an entry.
bool is_other_language(std::string_view source) {
  return source.find(".entry") != std::string_view::npos ||
         source.find("import ") != std::string_view::npos;
}

SourceKeyRules key_rules(const Variant& variant) {
  SourceKeyRules rules;
  add_names(variant.kernel_name, rules.fixed_names);
  for (const std::string& name : step_kernels(variant)) add_names(name, rules.fixed_names);
  for (const auto& [name, value] : variant.tunables) rules.fixed_names.insert(name);
  for (const std::string& option : variant.compiler_options) {
    add_names(option, rules.fixed_names);
    // Text from elsewhere may use any name; "-DX", "a" as two options hides where a name ends.
    if (option.find("include") != std::string::npos) rules.rename_locals = false;
  }
  return rules;
}

void add_plan(Hasher& hasher, const LaunchPlan& plan) {
  for (const auto* axes : {&plan.grid, &plan.block, &plan.cluster}) {
    for (const Expression& axis : *axes) hasher.add(std::string_view(axis.text()));
  }
  hasher.add(std::string_view(plan.dynamic_smem_bytes.text()));
}

void add_steps(Hasher& hasher, const std::vector<LaunchStep>& steps) {
  hasher.add(static_cast<std::uint64_t>(steps.size()));
  for (const LaunchStep& step : steps) {
    hasher.add(static_cast<std::uint64_t>(step.kind)).add(std::string_view(step.kernel_name));
    add_plan(hasher, step.launch);
    hasher.add(static_cast<std::uint64_t>(step.arguments.size()));
    for (const std::string& argument : step.arguments) hasher.add(std::string_view(argument));
  }
}

/// Variants without any keep the keys that they had before there were extras.
void add_extras(Hasher& hasher, const Variant& variant) {
  if (!variant.has_extras()) return;
  hasher.add(std::string_view("extras")).add(static_cast<std::uint64_t>(variant.scratch.size()));
  for (const ScratchBuffer& buffer : variant.scratch) {
    hasher.add(std::string_view(buffer.name)).add(std::string_view(buffer.size_bytes.text()));
  }
  add_steps(hasher, variant.before);
  add_steps(hasher, variant.after);
}

/// Variants without any keep the keys that they had before there were versions.
void add_versions(Hasher& hasher, const Variant& variant) {
  if (variant.when.empty() && variant.versions.empty()) return;
  hasher.add(std::string_view("versions")).add(static_cast<std::uint64_t>(variant.when.size()));
  for (const auto& [name, value] : variant.when) hasher.add(std::string_view(name)).add(value);
  hasher.add(static_cast<std::uint64_t>(variant.versions.size()));
  for (const Variant& version : variant.versions) {
    const Hash128 key = variant_key(version);
    hasher.add(key.high).add(key.low);
  }
}

/// Null: none serves it.
const Variant* serving(const KernelSpec& spec, const Variant& variant, const Workload& workload) {
  for (const Variant* const kernel : kernels_of(variant)) {
    if (serves(spec, *kernel, workload)) return kernel;
  }
  return nullptr;
}

std::string workload_place(const KernelSpec& spec, const Workload& workload) {
  return spec.name + ", workload " + workload.name;
}

/// For any sizes: numbers that happen to be equal in one workload need not be in the next.
bool same_number(const Expression& a, const Expression& b) {
  if (a == b) return true;
  return a.names().empty() && b.names().empty() && a.evaluate({}, "") == b.evaluate({}, "");
}

using LaunchPart = std::pair<std::string_view, std::array<Expression, 3> LaunchPlan::*>;

/// How the launch of `kernel` differs from the one that the caller makes; empty where it does not
/// or where the search decides.
std::string caller_problem(const KernelSpec& spec,
                           const Variant& kernel,
                           const Workload& workload) {
  if (spec.launch_owner != LaunchOwner::caller) return "";
  if (kernel.has_extras())
    return "the caller owns the launch: no other launches, no scratch memory";
  const LaunchPlan &own = launch_for(spec, kernel, workload), &wanted = spec.launch_of(workload);
  const auto differ = [](const std::string& part, const Expression& mine,
                         const Expression& theirs) {
    return "the caller owns the launch: " + part + " " + mine.text() + ", the caller's is " +
           theirs.text();
  };
  constexpr std::array<LaunchPart, 3> kParts{{{"grid", &LaunchPlan::grid},
                                              {"block", &LaunchPlan::block},
                                              {"cluster", &LaunchPlan::cluster}}};
  for (const auto& [part, member] : kParts) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Expression &mine = (own.*member)[axis], &theirs = (wanted.*member)[axis];
      if (!same_number(mine, theirs))
        return differ(std::string(part) + "." + "xyz"[axis], mine, theirs);
    }
  }
  if (!same_number(own.dynamic_smem_bytes, wanted.dynamic_smem_bytes))
    return differ("dynamic shared memory", own.dynamic_smem_bytes, wanted.dynamic_smem_bytes);
  return "";
}

}  // namespace

Variant baseline_variant(const KernelSpec& spec) {
  Variant out;
  out.source = spec.source;
  out.kernel_name =
      spec.name_expressions.empty() ? spec.kernel_name : spec.name_expressions.front();
  out.launch = spec.io.launch;
  out.compiler_options = spec.compiler_options;
  for (const Tunable& tunable : spec.tunables)
    out.tunables.emplace(tunable.name, tunable.default_value);
  return out;
}

Hash128 variant_key(const Variant& variant) {
  Hasher hasher;
  hasher.add(std::string_view("variant-1"));
  // In other languages white space and what C++ takes for directives have a meaning.
  if (variant.source.find("__global__") == std::string::npos && is_other_language(variant.source)) {
    hasher.add(std::string_view(variant.source));
  } else {
    hasher.add(source_key(variant.source, key_rules(variant)));
  }
  hasher.add(std::string_view(variant.kernel_name));
  add_plan(hasher, variant.launch);
  hasher.add(static_cast<std::uint64_t>(variant.compiler_options.size()));
  for (const std::string& option : variant.compiler_options) hasher.add(std::string_view(option));
  hasher.add(static_cast<std::uint64_t>(variant.tunables.size()));
  for (const auto& [name, value] : variant.tunables) hasher.add(std::string_view(name)).add(value);
  add_extras(hasher, variant);
  add_versions(hasher, variant);
  return hasher.digest();
}

bool serves(const KernelSpec& spec, const Variant& variant, const Workload& workload) {
  if (variant.when.empty()) return true;
  const Bindings values = spec.bindings(workload, {});
  return std::ranges::all_of(variant.when, [&](const auto& wanted) {
    const auto it = values.find(wanted.first);
    return it != values.end() && it->second == wanted.second;
  });
}

const Variant& version_for(const KernelSpec& spec,
                           const Variant& variant,
                           const Workload& workload) {
  const Variant* const kernel = serving(spec, variant, workload);
  WARPATH_CHECK(kernel != nullptr);
  return *kernel;
}

std::vector<const Variant*> kernels_of(const Variant& variant) {
  std::vector<const Variant*> out{&variant};
  for (const Variant& version : variant.versions) out.push_back(&version);
  return out;
}

Variant alone(Variant variant) {
  variant.when.clear();
  variant.versions.clear();
  return variant;
}

std::string condition_text(const Bindings& when) {
  std::string out;
  for (const auto& [name, value] : when)
    out += (out.empty() ? "" : " and ") + name + " = " + std::to_string(value);
  return out.empty() ? "any size" : out;
}

const LaunchPlan& launch_for(const KernelSpec& spec,
                             const Variant& variant,
                             const Workload& workload) {
  return workload.launch && variant.launch == spec.io.launch ? *workload.launch : variant.launch;
}

std::vector<std::string> step_kernels(const Variant& variant) {
  std::vector<std::string> out;
  for (const auto* steps : {&variant.before, &variant.after}) {
    for (const LaunchStep& step : *steps) {
      if (step.kind == LaunchStep::Kind::kernel &&
          std::ranges::find(out, step.kernel_name) == out.end())
        out.push_back(step.kernel_name);
    }
  }
  return out;
}

ExtraNumbers extra_numbers(const KernelSpec& spec,
                           const Variant& variant,
                           const Workload& workload) {
  ExtraNumbers out;
  if (!variant.has_extras()) return out;
  const std::string place = "extras of workload " + workload.name;
  const Bindings bindings = spec.bindings(workload, variant.tunables);
  if (std::max({variant.scratch.size(), variant.before.size(), variant.after.size()}) >
      kMaxExtras) {
    throw bad_input(
        place, "",
        "at most " + std::to_string(kMaxExtras) + " scratch buffers and steps on either side");
  }
  std::vector<std::string> names;
  std::vector<bool> may_zero;
  for (const ArgSpec& arg : spec.io.args) {
    if (arg.is_meta || arg.type == ArgType::string) continue;
    names.push_back(arg.name);
    may_zero.push_back(arg.type == ArgType::tensor && arg.role == ArgRole::output);
  }
  for (const ScratchBuffer& buffer : variant.scratch) {
    if (std::ranges::find(names, buffer.name) != names.end())
      throw bad_input(place, buffer.name, "a scratch buffer with a name of its own");
    names.push_back(buffer.name);
    may_zero.push_back(true);
    out.scratch_bytes.push_back(buffer.size_bytes.evaluate(bindings, place + ", " + buffer.name));
    if (out.scratch_bytes.back() < 1)
      throw bad_input(place, buffer.name, "a scratch buffer of at least one byte");
  }
  const auto numbers = [&](const std::vector<LaunchStep>& steps, std::vector<StepNumbers>& to) {
    for (const LaunchStep& step : steps) {
      StepNumbers one{
          .kind = step.kind, .kernel_name = step.kernel_name, .launch = {}, .arguments = {}};
      for (const std::string& name : step.arguments) {
        const auto at = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
        if (at == names.size())
          throw bad_input(place, name, "an argument of the spec or a scratch buffer");
        if (step.kind == LaunchStep::Kind::zero && !may_zero[at])
          throw bad_input(place, name, "an output or a scratch buffer to be zeroed");
        one.arguments.push_back(static_cast<std::uint32_t>(at));
      }
      if (step.kind == LaunchStep::Kind::kernel)
        one.launch = evaluate(step.launch, bindings, place + ", kernel " + step.kernel_name);
      to.push_back(std::move(one));
    }
  };
  numbers(variant.before, out.before);
  numbers(variant.after, out.after);
  return out;
}

bool satisfies_constraints(const KernelSpec& spec, const Variant& variant, std::string& why) {
  for (const Workload& workload : spec.workloads) {
    const std::string place = workload_place(spec, workload);
    const Variant* const kernel = serving(spec, variant, workload);
    if (kernel == nullptr) continue;
    try {
      const Bindings bindings = spec.bindings(workload, kernel->tunables);
      for (const Expression& constraint : spec.constraints) {
        if (constraint.evaluate(bindings, place) != 0) continue;
        why = place + ": constraint " + constraint.text() + " does not hold";
        return false;
      }
      const LaunchNumbers numbers = evaluate(launch_for(spec, *kernel, workload), bindings, place);
      if (const std::string problem = launch_problem(numbers); !problem.empty()) {
        why = place + ": " + problem;
        return false;
      }
      if (std::string problem = caller_problem(spec, *kernel, workload); !problem.empty()) {
        why = place + ": " + problem;
        return false;
      }
      const ExtraNumbers extras = extra_numbers(spec, *kernel, workload);
      for (const auto* steps : {&extras.before, &extras.after}) {
        for (const StepNumbers& step : *steps) {
          const std::string problem = launch_problem(step.launch);
          if (problem.empty()) continue;
          why = place + ", kernel " + step.kernel_name + ": " + problem;
          return false;
        }
      }
    } catch (const Error& error) {  // a tunable's value makes a size overflow or divide by zero
      why = error.what();
      return false;
    }
  }
  return true;
}

}  // namespace warpath
