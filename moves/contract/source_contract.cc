#include "moves/contract/source_contract.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "engine/base/dtype.h"
#include "engine/spec/parameters.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::int64_t kMostAlignment = SourceContract::kMostAlignment;

/// Words of the source that only some devices understand.
struct Feature {
  std::string_view word;
  int compute_capability;
  bool exact;
};
constexpr std::array kFeatures{Feature{"tcgen05.", 100, true},
                               Feature{"wgmma.", 90, true},
                               Feature{"setmaxnreg", 90, true},
                               Feature{"cp.async.bulk", 90, false},
                               Feature{"__cluster_dims__", 90, false},
                               Feature{"barrier.cluster", 90, false},
                               Feature{"mapa.", 90, false},
                               Feature{"fence.proxy", 90, false},
                               Feature{"mbarrier.try_wait", 90, false},
                               Feature{"e4m3", 89, false},
                               Feature{"cp.async", 80, false},
                               Feature{"mbarrier.", 80, false},
                               Feature{"redux.", 80, false},
                               Feature{"__reduce_add_sync", 80, false},
                               Feature{"m16n8k16", 80, false},
                               Feature{"m16n8k8", 75, false},
                               Feature{"ldmatrix", 75, false},
                               Feature{"__nv_bfloat162", 80, false},
                               Feature{"mma.sync", 70, false},
                               Feature{"__nanosleep", 70, false}};

/// What the source of one variant says.
struct Reading {
  std::set<std::string, std::less<>> used;  ///< arguments that the kernel reads
  std::map<std::string, SourceContract::Pointer, std::less<>> pointers;
};

/// The body reads the parameter itself, not a local of its name.
bool reads(const Function& kernel, const Declarator& parameter) {
  if (parameter.name.empty() || !mentions(*kernel.body, parameter.name)) return false;
  bool hidden = false;
  for (const Stmt* s : kernel.body->children) {
    for (const Declarator* d : s->declarators)
      hidden = hidden || (d->name == parameter.name && d->is_constant());
  }
  return !hidden;
}

/// Widest access of the elements behind `type`, in bytes; 1 if it is none that is known.
std::int64_t width_of(const Unit& unit, Span type) {
  std::string text = unit.plain_text(type);
  const std::size_t star = text.find('*');
  if (star == std::string::npos) return 1;
  std::string words;
  for (std::size_t begin = 0; begin < star;) {
    const std::size_t end = std::min(text.find(' ', begin), star);
    const std::string word = text.substr(begin, end - begin);
    if (!word.empty() && word != "const" && word != "volatile")
      words += (words.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return std::min<std::int64_t>(
      kMostAlignment, std::max<std::int64_t>(1, static_cast<std::int64_t>(size_of_type(words))));
}

/// Parameters of the kernel that the address is made from, by names and by pointers that were set
/// from them.
std::vector<const Declarator*> origins(const Unit& unit,
                                       const Function& kernel,
                                       const Expr& address,
                                       int depth = 0) {
  std::vector<const Declarator*> out;
  walk(address, [&](const Expr& e) {
    if (!e.is(ExprKind::name)) return true;
    const Declarator* const d = declaration_of(unit, e);
    if (d == nullptr || !d->is_pointer()) return true;
    if (d->is_parameter && d->function == &kernel) out.push_back(d);
    if (!d->is_parameter && d->value() != nullptr && depth < 4) {
      for (const Declarator* const further : origins(unit, kernel, *d->value(), depth + 1))
        out.push_back(further);
    }
    return true;
  });
  return out;
}

/// The spec's argument behind each parameter of the kernel; null for the addresses of scratch
/// buffers, which follow them, and for all if their numbers differ.
std::vector<const ArgSpec*> passed_arguments(const KernelSpec& spec,
                                             const Variant& variant,
                                             const Function& kernel) {
  std::vector<const ArgSpec*> out = parameter_arguments(spec);
  if (out.size() + variant.scratch.size() != kernel.parameters.size()) out.clear();
  out.resize(kernel.parameters.size());
  return out;
}

std::optional<Reading> read(const KernelSpec& spec, const Variant& variant, std::string& why) {
  const auto model = model_kernel(spec, variant, why);
  if (model == nullptr) return std::nullopt;
  const Function& kernel = *model->kernel;
  const std::vector<const ArgSpec*> passed = passed_arguments(spec, variant, kernel);
  Reading out;
  for (std::size_t i = 0; i < passed.size(); ++i) {
    const Declarator* const d = kernel.parameters[i];
    const ArgSpec* const arg = passed[i];
    if (arg == nullptr) continue;
    if (reads(kernel, *d)) out.used.insert(arg->name);
    if (!d->is_pointer()) continue;
    SourceContract::Pointer& p = out.pointers[arg->name];
    p.argument = arg->name;
    p.apart = (d->pointer_qualifiers & kRestrict) != 0;
    p.alignment_bytes = std::max<std::int64_t>(
        1, std::min<std::int64_t>(kMostAlignment, static_cast<std::int64_t>(size_of_type(
                                                      model->unit.plain_text(d->type)))));
  }
  const auto widen = [&](const Declarator& d, std::int64_t width) {
    const auto at = std::ranges::find(kernel.parameters, &d) - kernel.parameters.begin();
    const ArgSpec* const arg = passed[static_cast<std::size_t>(at)];
    if (arg != nullptr && out.pointers.contains(arg->name)) {
      auto& known = out.pointers[arg->name].alignment_bytes;
      known = std::max(known, width);
    }
  };
  for (const Function* const f : model->unit.functions()) {
    if (f->body == nullptr) continue;
    walk_expressions(*f->body, [&](const Expr& e) {
      if (!e.is(ExprKind::cast) || e.args.empty()) return true;
      const std::int64_t width = width_of(model->unit, e.type);
      if (width <= 1) return true;
      if (f == &kernel) {
        for (const Declarator* const d : origins(model->unit, kernel, *e.args[0])) widen(*d, width);
        return true;
      }
      // A helper's pointer: any argument may reach it.
      bool foreign = false;
      walk(*e.args[0], [&](const Expr& name) {
        const Declarator* const d =
            name.is(ExprKind::name) ? declaration_of(model->unit, name) : nullptr;
        foreign = foreign || (d != nullptr && d->is_parameter && d->is_pointer());
        return true;
      });
      for (const Declarator* const d : kernel.parameters) {
        if (foreign && d->is_pointer()) widen(*d, width);
      }
      return true;
    });
  }
  return out;
}

/// The value that a workload passes for an argument, as text; empty if unknown.
std::string value_text(const ArgSpec& arg, const Workload& workload) {
  if (const auto it = workload.scalars.find(arg.name); it != workload.scalars.end())
    return std::visit([](const auto& v) { return nlohmann::json(v).dump(); }, it->second);
  if (const auto* const i = std::get_if<std::int64_t>(&arg.value)) return std::to_string(*i);
  if (const auto* const b = std::get_if<bool>(&arg.value)) return *b ? "true" : "false";
  if (const auto* const d = std::get_if<double>(&arg.value)) return nlohmann::json(*d).dump();
  return {};
}

std::set<std::string> launch_names(const LaunchPlan& plan) {
  std::set<std::string> out;
  for (const auto* const triple : {&plan.grid, &plan.block, &plan.cluster}) {
    for (const Expression& e : *triple) out.merge(e.names());
  }
  out.merge(plan.dynamic_smem_bytes.names());
  return out;
}

void read_device(const Variant& variant, SourceContract& out) {
  for (const Feature& feature : kFeatures) {
    if (variant.source.find(feature.word) == std::string::npos) continue;
    if (feature.compute_capability > out.compute_capability) out.exact_architecture = feature.exact;
    out.compute_capability = std::max(out.compute_capability, feature.compute_capability);
  }
  const bool clusters = std::ranges::any_of(variant.launch.cluster,
                                            [](const Expression& e) { return e.text() != "1"; });
  if (clusters) out.compute_capability = std::max(out.compute_capability, 90);
}

std::size_t questions_of_architecture(std::string_view source) {
  constexpr std::string_view kName = "__CUDA_ARCH__";
  const std::size_t at = source.find(kName);
  return at == source.npos ? 0 : 1 + questions_of_architecture(source.substr(at + kName.size()));
}

/// Of one of the kernels of `whole`.
SourceContract contract_of(const KernelSpec& spec,
                           const DeviceFacts& device,
                           const Variant& whole,
                           const Variant& variant) {
  SourceContract out;
  out.launch = variant.launch;
  out.callers_launch = spec.launch_owner == LaunchOwner::caller;
  out.device = device.name;
  const Variant baseline = baseline_variant(spec);
  const bool is_baseline = alone(variant) == baseline;
  const MoveContext context{.spec = spec, .variant = variant, .device = device};
  const auto workloads = workloads_of(context);
  for (const Workload* const w : workloads) {
    if (&version_for(spec, whole, *w) != &variant) continue;
    std::string& values = out.verified[w->name];
    for (const ArgSpec& arg : spec.io.args) {
      if (arg.type != ArgType::tensor && arg.type != ArgType::string && !arg.is_meta)
        values += (values.empty() ? "" : ", ") + arg.name + " = " + value_text(arg, *w);
    }
    const LaunchNumbers numbers =
        evaluate(launch_for(spec, variant, *w), spec.bindings(*w, variant.tunables), "launch");
    out.dynamic_smem_bytes = std::max(out.dynamic_smem_bytes, numbers.dynamic_smem_bytes);
  }
  for (const auto& [name, value] : variant.tunables) out.macros[name] = std::to_string(value);
  for (const ArgSpec& arg : spec.io.args) {
    if (arg.is_meta && !arg.is_size) out.macros[arg.name] = value_text(arg, *workloads.front());
  }
  for (const std::string& option : variant.compiler_options) {
    if (!option.starts_with("-D") || option.size() < 3) continue;
    const std::size_t equals = option.find('=');
    out.macros[option.substr(2, equals == std::string::npos ? equals : equals - 2)] =
        equals == std::string::npos ? "1" : option.substr(equals + 1);
  }
  read_device(variant, out);
  // what the spec's kernel leaves to the preprocessor was decided for the device
  if (questions_of_architecture(variant.source) < questions_of_architecture(spec.source)) {
    out.compute_capability = compute_capability(device.arch);
    out.exact_architecture = out.compute_capability > 0;
  }

  std::string why;
  const auto before = read(spec, baseline, why);
  const auto now = read(spec, variant, out.unread);
  const std::set<std::string> launch_before = launch_names(baseline.launch),
                              launch_now = launch_names(variant.launch);
  for (const ArgSpec& arg : spec.io.args) {
    if (arg.type == ArgType::tensor || arg.type == ArgType::string || arg.is_meta) continue;
    // A source that cannot be read may rely on anything that was verified.
    const bool ignored =
        now ? !now->used.contains(arg.name) && (!before || before->used.contains(arg.name))
            : variant.source != baseline.source;
    const bool unlaunched = launch_before.contains(arg.name) && !launch_now.contains(arg.name);
    if (is_baseline || !(ignored || unlaunched)) continue;
    SourceContract::Fixed fixed{arg.name, {}};
    for (const Workload* const w : workloads) {
      const std::string value = value_text(arg, *w);
      if (!value.empty() && std::ranges::find(fixed.values, value) == fixed.values.end())
        fixed.values.push_back(value);
    }
    if (!fixed.values.empty()) out.sizes.push_back(std::move(fixed));
  }
  for (const ArgSpec& arg : spec.io.args) {
    const bool is_input = arg.type == ArgType::tensor && arg.role == ArgRole::input;
    if (is_input && now && before && before->used.contains(arg.name) &&
        !now->used.contains(arg.name))
      out.ignored.push_back(arg.name);
  }
  const Reading nothing;
  std::ranges::sort(out.sizes, {}, &SourceContract::Fixed::argument);
  for (const auto& [name, pointer] : (now ? *now : nothing).pointers)
    out.pointers.push_back(pointer);

  const Reading& general = before ? *before : nothing;
  const auto wider = [&](const SourceContract::Pointer& p) {
    const auto it = general.pointers.find(p.argument);
    return it == general.pointers.end() || p.alignment_bytes > it->second.alignment_bytes ||
           (p.apart && !it->second.apart);
  };
  SourceContract of_baseline;
  read_device(baseline, of_baseline);
  out.narrowed = !is_baseline && (!out.sizes.empty() || !out.ignored.empty() ||
                                  std::ranges::any_of(out.pointers, wider) ||
                                  out.compute_capability > of_baseline.compute_capability ||
                                  out.exact_architecture != of_baseline.exact_architecture ||
                                  out.dynamic_smem_bytes > SourceContract::kFreeSharedBytes);
  return out;
}

}  // namespace

int compute_capability(std::string_view arch) {
  int out = 0;
  if (arch.starts_with("sm_")) std::from_chars(arch.data() + 3, arch.data() + arch.size(), out);
  return out;
}

SourceContract source_contract(const KernelSpec& spec,
                               const DeviceFacts& device,
                               const Variant& variant) {
  return contract_of(spec, device, variant, variant);
}

std::vector<SourceContract> source_contracts(const KernelSpec& spec,
                                             const DeviceFacts& device,
                                             const Variant& variant) {
  std::vector<SourceContract> out;
  for (const Variant* const kernel : kernels_of(variant))
    out.push_back(contract_of(spec, device, variant, *kernel));
  return out;
}

}  // namespace warpath
