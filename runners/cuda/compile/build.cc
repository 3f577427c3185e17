#include "runners/cuda/compile/build.h"

#include <algorithm>
#include <set>

#include "engine/base/detailed_error.h"
#include "engine/spec/parameters.h"
#include "runners/cuda/code/cubin.h"
#include "runners/cuda/code/ptx.h"
#include "runners/cuda/code/ptx_reach.h"
#include "runners/cuda/compile/binary_key.h"
#include "runners/cuda/compile/static_diagnosis.h"
#include "runners/inputs/arguments.h"

namespace warpath::cuda {
namespace {

/// Puts the gates of `phase` that run at `stage` to a subject, in running order; false once one has
/// failed. A gate that has passed on an earlier subject keeps one line in the verdict.
bool judge(const GateTable& table,
           const GatePlan& plan,
           Stage stage,
           GatePhase phase,
           const GateSubject& subject,
           Build& build) {
  for (const std::string_view name : plan.run_at(stage, phase)) {
    const CodeGate* const gate = table.code_gate(name);
    if (gate == nullptr) continue;  // answered by the builder itself
    GateResult result = gate->judge(subject);
    const bool failed = result.answer == GateResult::Answer::fail;
    if (failed) {
      build.status = gate->declared().failure;
      build.log = result.detail;
    }
    std::erase_if(build.gates, [&](const GateResult& r) { return r.gate == result.gate; });
    build.gates.push_back(std::move(result));
    if (failed) return false;
  }
  return true;
}

std::vector<std::string> global_names(const PtxModule& ptx) {
  std::vector<std::string> names;
  for (const PtxVariable& variable : ptx.variables) {
    if (variable.space == "global") names.emplace_back(variable.name);
  }
  return names;
}

bool has_atomics(const PtxModule& ptx) {
  return std::ranges::any_of(ptx.functions, [](const PtxFunction& function) {
    return std::ranges::any_of(function.instructions, [](const PtxInstruction& i) {
      return i.opcode == "atom" || i.opcode == "red";
    });
  });
}

/// What is launched of the code of `variant`.
std::vector<std::string> entries_of(const Variant& variant, const std::string& lowered_name) {
  std::vector<std::string> entries = step_kernels(variant);
  entries.push_back(lowered_name);
  return entries;
}

/// The first launch of a step that no device allows.
std::string steps_problem(const ExtraNumbers& extra) {
  for (const auto* steps : {&extra.before, &extra.after}) {
    for (const StepNumbers& step : *steps) {
      const std::string problem = launch_problem(step.launch);
      if (!problem.empty()) return "kernel " + step.kernel_name + ": " + problem;
    }
  }
  return "";
}

/// What the kernel gets for its integers under `workload`, by position.
std::map<std::size_t, std::int64_t> integer_parameters(const KernelSpec& spec,
                                                       const Workload& workload) {
  std::map<std::size_t, std::int64_t> out;
  const std::vector<const ArgSpec*> arguments = parameter_arguments(spec);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == nullptr) continue;
    const auto value = scalar_value(*arguments[i], workload);
    if (value && std::holds_alternative<std::int64_t>(*value))
      out[i] = std::get<std::int64_t>(*value);
  }
  return out;
}

/// Index of the first workload of role score; 0 if there is none.
std::size_t first_scored(const std::vector<const Workload*>& workloads) {
  const auto it = std::ranges::find(workloads, WorkloadRole::score, &Workload::role);
  return it == workloads.end() ? 0 : static_cast<std::size_t>(it - workloads.begin());
}

void refuse(Build& build, Status status, std::string_view gate, std::string why) {
  build.status = status;
  build.log = why;
  build.gates.push_back({std::string(gate), GateResult::Answer::fail, std::move(why)});
}

}  // namespace

Build Builder::build(const KernelSpec& spec,
                     const Variant& variant,
                     const std::vector<const Workload*>& workloads,
                     const BaselineText* baseline,
                     Stage stage,
                     const std::stop_token& stop) const {
  Build build;
  GateSubject subject;
  subject.spec = &spec;
  std::vector<const Variant*> kernels;  // by workload
  for (const Workload* const workload : workloads)
    kernels.push_back(&version_for(spec, variant, *workload));
  for (std::size_t w = 0; w < kernels.size(); ++w) {
    if (std::find(kernels.begin(), kernels.begin() + static_cast<std::ptrdiff_t>(w), kernels[w]) !=
        kernels.begin() + static_cast<std::ptrdiff_t>(w))
      continue;
    subject.source = &kernels[w]->source;
    subject.variant = kernels[w];
    if (!judge(gates_, plan_, stage, GatePhase::text, subject, build)) return build;
  }
  const bool extras = std::ranges::any_of(kernels, &Variant::has_extras);
  try {
    for (std::size_t w = 0; w < workloads.size(); ++w) {
      const Workload* const workload = workloads[w];
      const Variant& kernel = *kernels[w];
      build.candidate.numbers.push_back(evaluate(launch_for(spec, kernel, *workload),
                                                 spec.bindings(*workload, kernel.tunables),
                                                 "launch of workload " + workload->name));
      const std::string problem = launch_problem(build.candidate.numbers.back());
      if (!problem.empty()) {
        refuse(build, Status::launch_error, kLaunchGate, problem);
        return build;
      }
      if (!extras) continue;
      build.candidate.extras.push_back(extra_numbers(spec, kernel, *workload));
      const std::string problem_of_steps = steps_problem(build.candidate.extras.back());
      if (!problem_of_steps.empty()) {
        refuse(build, Status::launch_error, kLaunchGate, problem_of_steps);
        return build;
      }
    }
  } catch (const Error& error) {  // a move may write an expression that fails
    refuse(build, Status::launch_error, kLaunchGate, error.what());
    return build;
  }
  const CompiledVariant compiled = service_.compile(spec, variant, workloads, arch_, stop);
  build.compile_seconds = compiled.seconds;
  if (compiled.status != Status::ok) {
    refuse(build, compiled.status, kCompileGate, compiled.log);
    return build;
  }
  build.gates.push_back({std::string(kCompileGate), GateResult::Answer::pass, ""});
  for (std::size_t w = 0; w < workloads.size(); ++w)
    build.candidate.numbers[w].dynamic_smem_bytes += compiled.code(w).dynamic_smem_bytes;
  std::vector<BinaryUse> uses;
  std::vector<Hash128> hashes;
  const std::size_t diagnosed = first_scored(workloads);
  for (std::size_t c = 0; c < compiled.codes.size(); ++c) {
    const CompileResult& code = *compiled.codes[c];
    const auto first = std::find(compiled.code_of.begin(), compiled.code_of.end(), c);
    const auto w = static_cast<std::size_t>(first - compiled.code_of.begin());
    const Variant& kernel = *kernels[w];
    subject.source = &kernel.source;
    subject.variant = &kernel;
    std::string why;
    auto ptx = parse_ptx(code.ptx, why);
    const auto cubin = read_cubin(code.cubin, code.lowered_name, why);
    if (!ptx || !cubin) {
      refuse(build, Status::rejected, kPtxGate, "the compiler's output cannot be read: " + why);
      return build;
    }
    keep_reached(*ptx, entries_of(kernel, code.lowered_name));
    std::optional<PtxModule> own;
    if (baseline != nullptr) own = parse_ptx(baseline->ptx[w], why);
    if (own) keep_reached(*own, baseline->entries[w]);
    subject.code = &code;
    subject.ptx = &*ptx;
    subject.baseline_ptx = own ? &*own : nullptr;
    if (baseline == nullptr) subject.baseline_ptx = &*ptx;
    if (!judge(gates_, plan_, stage, GatePhase::code, subject, build)) return build;
    if (c == compiled.code_of[diagnosed]) {
      const Workload& workload = *workloads[diagnosed];
      build.diagnosis = static_diagnosis(code, *ptx, build.candidate.numbers[diagnosed], limits_,
                                         integer_parameters(spec, workload));
      if (spec.bound.bytes) {
        const double bytes = static_cast<double>(spec.bound.bytes->evaluate(
            spec.bindings(workload, kernel.tunables), spec.place("/bound/bytes")));
        build.diagnosis.facts["compulsory_bytes"] = {bytes, FactSource::static_analysis};
      }
    }
    build.candidate.codes.push_back({code.cubin, code.lowered_name, global_names(*ptx), code.ptx,
                                     has_atomics(*ptx), step_kernels(kernel)});
    hashes.push_back(cubin->code_hash);
  }
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    build.candidate.code_of.push_back(static_cast<std::uint32_t>(compiled.code_of[w]));
    uses.push_back({hashes[compiled.code_of[w]], build.candidate.numbers[w],
                    extras ? build.candidate.extras[w] : ExtraNumbers{}});
  }
  build.candidate.key = binary_key(uses);
  return build;
}

BaselineText Builder::text_of(const KernelSpec& spec,
                              const Variant& variant,
                              const std::vector<const Workload*>& workloads) const {
  const CompiledVariant compiled = service_.compile(spec, variant, workloads, arch_);
  if (compiled.status != Status::ok) {
    throw DetailedError(
        bad_input(spec.place("/kernel"), "",
                  (spec.kernel_type == KernelType::triton ? "a kernel that Triton compiles: "
                   : spec.kernel_type == KernelType::ptx  ? "a kernel that ptxas assembles: "
                   : spec.compiler == DeviceCompiler::nvcc
                       ? "a kernel that nvcc compiles: "
                       : "a kernel that NVRTC compiles (or \"backend\": \"nvcc\" "
                         "in its metadata): ") +
                      compiled.log.substr(0, compiled.log.find('\n'))),
        compiled.log);
  }
  BaselineText text;
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    text.ptx.push_back(compiled.code(w).ptx);
    text.entries.push_back(
        entries_of(version_for(spec, variant, *workloads[w]), compiled.code(w).lowered_name));
  }
  return text;
}

PtxLaunch ptx_launch(const KernelSpec& spec, const Variant& variant, const Workload& workload) {
  const Variant& kernel = version_for(spec, variant, workload);
  const LaunchNumbers numbers =
      evaluate(launch_for(spec, kernel, workload), spec.bindings(workload, kernel.tunables),
               "launch of workload " + workload.name);
  return {.parameters = integer_parameters(spec, workload),
          .block = numbers.block,
          .grid = numbers.grid};
}

std::optional<Variant> reference_variant(const KernelSpec& spec) {
  const auto* const kernel = std::get_if<ReferenceKernel>(&spec.reference);
  if (kernel == nullptr) return std::nullopt;
  Variant variant = baseline_variant(spec);
  variant.source = kernel->source;
  variant.kernel_name = kernel->kernel_name;
  variant.launch = kernel->launch;
  variant.compiler_options = options_of_reference(spec.compiler_options);
  return variant;
}

}  // namespace warpath::cuda
