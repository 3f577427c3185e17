#include "engine/variant.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "engine/error.h"
#include "engine/source_key.h"

namespace warpath {
namespace {

/// Every name in `text`: macro definitions among compiler options, template arguments of a name expression.
void add_names(std::string_view text, std::set<std::string, std::less<>>& names) {
  const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; };
  for (auto it = text.begin(); it != text.end();) {
    const auto begin = std::find_if(it, text.end(), in_name);
    it = std::find_if_not(begin, text.end(), in_name);
    if (begin != it) names.emplace(begin, it);
  }
}

SourceKeyRules key_rules(const Variant& variant) {
  SourceKeyRules rules;
  add_names(variant.kernel_name, rules.fixed_names);
  for (const auto& [name, value] : variant.tunables) rules.fixed_names.insert(name);
  for (const std::string& option : variant.compiler_options) {
    add_names(option, rules.fixed_names);
    // Text from elsewhere may use any name; "-DX", "a" as two options hides where a name ends.
    if (option.find("include") != std::string::npos) rules.rename_locals = false;
  }
  return rules;
}

std::string workload_place(const KernelSpec& spec, const Workload& workload) {
  return spec.name + ", workload " + workload.name;
}

}  // namespace

Variant baseline_variant(const KernelSpec& spec) {
  Variant out;
  out.source = spec.source;
  out.kernel_name = spec.name_expressions.empty() ? spec.kernel_name : spec.name_expressions.front();
  out.launch = spec.io.launch;
  out.compiler_options = spec.compiler_options;
  for (const Tunable& tunable : spec.tunables) out.tunables.emplace(tunable.name, tunable.default_value);
  return out;
}

Hash128 variant_key(const Variant& variant) {
  Hasher hasher;
  hasher.add(std::string_view("variant-1")).add(source_key(variant.source, key_rules(variant)));
  hasher.add(std::string_view(variant.kernel_name));
  for (const auto* axes : {&variant.launch.grid, &variant.launch.block, &variant.launch.cluster}) {
    for (const Expression& axis : *axes) hasher.add(std::string_view(axis.text()));
  }
  hasher.add(std::string_view(variant.launch.dynamic_smem_bytes.text()));
  hasher.add(static_cast<std::uint64_t>(variant.compiler_options.size()));
  for (const std::string& option : variant.compiler_options) hasher.add(std::string_view(option));
  hasher.add(static_cast<std::uint64_t>(variant.tunables.size()));
  for (const auto& [name, value] : variant.tunables) hasher.add(std::string_view(name)).add(value);
  return hasher.digest();
}

const LaunchPlan& launch_for(const KernelSpec& spec, const Variant& variant, const Workload& workload) {
  return workload.launch && variant.launch == spec.io.launch ? *workload.launch : variant.launch;
}

bool satisfies_constraints(const KernelSpec& spec, const Variant& variant, std::string& why) {
  for (const Workload& workload : spec.workloads) {
    const std::string place = workload_place(spec, workload);
    try {
      const Bindings bindings = spec.bindings(workload, variant.tunables);
      for (const Expression& constraint : spec.constraints) {
        if (constraint.evaluate(bindings, place) != 0) continue;
        why = place + ": constraint " + constraint.text() + " does not hold";
        return false;
      }
      const LaunchNumbers numbers = evaluate(launch_for(spec, variant, workload), bindings, place);
      if (const std::string problem = launch_problem(numbers); !problem.empty()) {
        why = place + ": " + problem;
        return false;
      }
    } catch (const Error& error) {  // a tunable's value makes a size overflow or divide by zero
      why = error.what();
      return false;
    }
  }
  return true;
}

}  // namespace warpath
