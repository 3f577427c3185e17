#include "runners/host/judge/gates.h"

#include <signal.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "engine/base/format.h"
#include "engine/spec/compare.h"
#include "engine/spec/parameters.h"
#include "runners/inputs/arguments.h"

namespace warpath::host {
namespace {

using Failure = std::optional<GateFailure>;

/// A compile that stopped at gate `name`.
Failure compile_failure(const Evidence& evidence, std::string_view name) {
  for (const auto& compiled : evidence.compiled) {
    if (compiled.status != Status::ok && compiled.gate == name)
      return GateFailure{compiled.status, compiled.log};
  }
  return std::nullopt;
}
Failure check_source(const Evidence& evidence, std::string&) {
  return compile_failure(evidence, "source");
}
Failure check_compile(const Evidence& evidence, std::string&) {
  return compile_failure(evidence, "compile");
}
Failure check_imports(const Evidence& evidence, std::string&) {
  return compile_failure(evidence, "imports");
}

std::string signal_name(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE (integer division by zero)";
    case SIGILL:
      return "SIGILL";
    case SIGABRT:
      return "SIGABRT";
    case SIGKILL:
      return "SIGKILL";
    default:
      return "signal " + std::to_string(signal);
  }
}

/// Name of the argument `index` of the kernel that was launched.
std::string argument_name(const Evidence& evidence,
                          const CheckedLaunch& launch,
                          std::int64_t index) {
  const auto arguments = kernel_arguments(*evidence.spec);
  if (index < 0) return "?";
  const auto i = static_cast<std::size_t>(index);
  if (i < arguments.size()) return arguments[i]->name;
  const auto& scratch = version_for(*evidence.spec, *evidence.variant, *launch.workload).scratch;
  return i - arguments.size() < scratch.size() ? scratch[i - arguments.size()].name : "?";
}

/// Empty if the kernel can take these arguments; null stands for a scratch buffer, or for the
/// struct that `layouts` describes there.
std::string parameters_problem(const std::vector<WarpathParameter>& parameters,
                               const std::vector<const ArgSpec*>& arguments,
                               const std::vector<ParameterLayout>& layouts = {}) {
  if (parameters.size() != arguments.size()) {
    return "the kernel takes " + std::to_string(parameters.size()) +
           " parameters, the spec passes " + std::to_string(arguments.size());
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ArgSpec* const arg = arguments[i];
    const WarpathParameter& p = parameters[i];
    if (i < layouts.size() && !layouts[i].struct_name.empty()) {
      if (p.kind == kWarpathOther && p.size_bytes == layouts[i].size_bytes) continue;
      return "parameter " + std::to_string(i + 1) + " has " + std::to_string(p.size_bytes) +
             " bytes, the spec's struct " + layouts[i].struct_name + " has " +
             std::to_string(layouts[i].size_bytes);
    }
    const std::string which = "parameter " + std::to_string(i + 1) + " (" +
                              (arg == nullptr ? "scratch" : arg->name) + ")";
    if (arg == nullptr || arg->type == ArgType::tensor) {
      if (p.kind != kWarpathPointer) return which + " must be a pointer: the spec passes a tensor";
      continue;
    }
    const auto& type = info(arg->dtype);
    const bool half = arg->dtype == DType::f16 || arg->dtype == DType::bf16;
    const bool kind_fits =
        half ? p.kind == kWarpathHalf
        : type.is_float
            ? p.kind == kWarpathFloating
            : p.kind == kWarpathSigned || p.kind == kWarpathUnsigned || p.kind == kWarpathBool;
    if (!kind_fits || p.size_bytes != type.size_bytes)
      return which + " does not fit: the spec passes a " + std::string(type.name);
  }
  return "";
}

/// The first step that cannot be launched as it says.
std::string steps_problem(const Evidence& evidence,
                          const Variant& kernel,
                          const LoadReply& loaded,
                          const std::vector<const ArgSpec*>& arguments) {
  const std::vector<std::string> kernels = step_kernels(kernel);
  for (std::size_t w = 0; w < evidence.extras.size(); ++w) {
    if (evidence.kernels[w] != &kernel) continue;
    const ExtraNumbers& extra = evidence.extras[w];
    for (const auto* steps : {&extra.before, &extra.after}) {
      for (const StepNumbers& step : *steps) {
        if (step.kind != LaunchStep::Kind::kernel) continue;
        const auto at = static_cast<std::size_t>(std::ranges::find(kernels, step.kernel_name) -
                                                 kernels.begin());
        std::vector<const ArgSpec*> passed;
        for (const auto i : step.arguments)
          passed.push_back(i < arguments.size() ? arguments[i] : nullptr);
        std::string problem = launch_problem(step.launch);
        if (problem.empty() && at < loaded.steps.size())
          problem = parameters_problem(loaded.steps[at], passed);
        if (!problem.empty()) return "kernel " + step.kernel_name + ": " + problem;
      }
    }
  }
  return "";
}

bool hit_tensor_fence(const WorkerLoss& loss) {
  return loss.fault && loss.fault->where == FaultRecord::Where::tensor;
}

GateFailure describe_loss(const Evidence& evidence, const WorkerLoss& loss) {
  switch (loss.kind) {
    case WorkerLoss::Kind::timed_out:
      return {Status::timed_out, "did not end within " + number_text(evidence.launch_seconds) +
                                     " s (host.launch_seconds)"};
    case WorkerLoss::Kind::stopped:
      return {Status::timed_out, "stopped"};
    case WorkerLoss::Kind::out_of_memory:
      return {Status::limits_exceeded, "out of memory (host.memory_mib)"};
    case WorkerLoss::Kind::exited:
      return {Status::crashed, "ended its process with exit status " + std::to_string(loss.code)};
    case WorkerLoss::Kind::damaged:
      return {Status::crashed, "its process sent what cannot be read"};
    case WorkerLoss::Kind::signalled:
      break;
  }
  if (loss.fault && loss.fault->where == FaultRecord::Where::stack)
    return {Status::crashed, "stack overflow: a thread's local variables exceed the host's stack"};
  if (loss.fault && loss.fault->where == FaultRecord::Where::shared_memory)
    return {Status::crashed, "access past the dynamic shared memory"};
  return {Status::crashed, "crashed with " + signal_name(loss.code)};
}

Failure check_launch_contract(const Evidence& evidence, std::string& figure) {
  if (!evidence.launch_problem.empty())
    return GateFailure{Status::launch_error, evidence.launch_problem};
  for (const auto& numbers : evidence.numbers) {
    if (numbers.cluster != std::array<std::int64_t, 3>{1, 1, 1}) {
      return GateFailure{Status::not_applicable, "thread block clusters cannot run on the host"};
    }
    if (const auto problem = launch_problem(numbers); !problem.empty())
      return GateFailure{Status::launch_error, problem};
  }
  const auto arguments = kernel_arguments(*evidence.spec);
  for (std::size_t i = 0; i < evidence.loaded.size(); ++i) {
    const auto& loaded = evidence.loaded[i];
    const Variant& kernel = *evidence.compiled_from[i];
    if (loaded.loss) return describe_loss(evidence, *loaded.loss);
    if (!loaded.reply.problem.empty())
      return GateFailure{Status::launch_error, loaded.reply.problem};
    if (loaded.reply.static_shared_bytes > 48U << 10U) {
      return GateFailure{Status::limits_exceeded,
                         "static shared memory of " +
                             std::to_string(loaded.reply.static_shared_bytes) +
                             " bytes, at most 49152 are allowed"};
    }
    std::vector<const ArgSpec*> passed = parameter_arguments(*evidence.spec);
    passed.resize(passed.size() + kernel.scratch.size(), nullptr);
    std::string problem =
        parameters_problem(loaded.reply.parameters, passed, parameter_layouts(*evidence.spec));
    if (problem.empty()) problem = steps_problem(evidence, kernel, loaded.reply, arguments);
    if (!problem.empty()) return GateFailure{Status::launch_error, problem};
  }
  figure = std::to_string(arguments.size()) + " parameters";
  return std::nullopt;
}

template <class Visit>
Failure first_of(const std::vector<CheckedLaunch>& launches, Visit visit) {
  for (const auto& launch : launches) {
    if (auto failure = visit(launch)) {
      failure->detail = launch.label() + ": " + failure->detail;
      return failure;
    }
  }
  return std::nullopt;
}

Failure launch_ended(const Evidence& evidence, const CheckedLaunch& launch) {
  if (launch.answer.loss)
    return hit_tensor_fence(*launch.answer.loss) ? Failure{}
                                                 : describe_loss(evidence, *launch.answer.loss);
  if (launch.answer.reply.end == BlockEnd::done) return std::nullopt;
  const bool deadlock = launch.answer.reply.end == BlockEnd::deadlock;
  return GateFailure{deadlock ? Status::rejected : Status::crashed, launch.answer.reply.detail};
}
Failure guards_intact(const Evidence& evidence, const CheckedLaunch& launch) {
  if (launch.answer.loss && hit_tensor_fence(*launch.answer.loss)) {
    const auto& fault = *launch.answer.loss->fault;
    return GateFailure{Status::rejected,
                       "access outside tensor " + argument_name(evidence, launch, fault.tensor) +
                           ", at byte " + std::to_string(fault.offset) + " of it"};
  }
  const auto& reply = launch.answer.reply;
  if (launch.answer.loss || reply.guard_violation.empty()) return std::nullopt;
  const std::string what = reply.guard_argument < 0
                               ? "shared memory"
                               : "tensor " + argument_name(evidence, launch, reply.guard_argument);
  return GateFailure{Status::rejected, (reply.guard_access ? "access" : "write") +
                                           std::string(" outside ") + what + ", " +
                                           reply.guard_violation};
}
Failure inputs_unchanged(const Evidence& evidence, const CheckedLaunch& launch) {
  const auto& reply = launch.answer.reply;
  if (launch.answer.loss || reply.mutated_argument < 0) return std::nullopt;
  return GateFailure{
      Status::rejected,
      "input " + argument_name(evidence, launch, reply.mutated_argument) + " was changed"};
}
Failure state_unchanged(const Evidence&, const CheckedLaunch& launch) {
  const auto& reply = launch.answer.reply;
  if (launch.answer.loss || reply.state_bytes_changed == 0) return std::nullopt;
  return GateFailure{Status::rejected, std::to_string(reply.state_bytes_changed) +
                                           " bytes of global variables differ after the launch: "
                                           "nothing may be carried from one launch to the next"};
}
Failure matches_reference(const Evidence& evidence, const CheckedLaunch& launch) {
  const auto arguments = output_arguments(*evidence.spec);
  for (std::size_t i = 0; i < launch.outputs.size(); ++i) {
    const auto& name = arguments[i]->name;
    if (launch.inputs->unjudged.contains(name)) continue;
    const auto own = launch.inputs->allowances.find(name);
    const Allowance allowed = own != launch.inputs->allowances.end()
                                  ? own->second
                                  : Allowance{.tolerance = evidence.spec->tolerance_of(name)};
    const Comparison comparison =
        compare_within(launch.outputs[i], launch.inputs->expected.at(name), allowed.tolerance,
                       allowed.reach, launch.inputs->infinities);
    if (!comparison.passed)
      return GateFailure{Status::wrong_result, "output " + name + ": " + comparison.detail};
  }
  return std::nullopt;
}

Failure check_launches(const Evidence& e, std::string& figure) {
  figure = std::to_string(e.checked.size()) + " launches";
  return first_of(e.checked, [&](const CheckedLaunch& launch) { return launch_ended(e, launch); });
}
Failure check_guard_zones(const Evidence& e, std::string& figure) {
  figure = std::to_string(kCanaryBytes / 1024) + " KiB of canaries, then unmapped pages";
  const auto question = [&](const CheckedLaunch& launch) { return guards_intact(e, launch); };
  auto failure = first_of(e.checked, question);
  return failure ? failure : first_of(e.interleaved, question);
}
Failure check_inputs(const Evidence& e, std::string&) {
  return first_of(e.checked,
                  [&](const CheckedLaunch& launch) { return inputs_unchanged(e, launch); });
}
Failure check_state(const Evidence& e, std::string&) {
  return first_of(e.checked,
                  [&](const CheckedLaunch& launch) { return state_unchanged(e, launch); });
}

/// An element that holds two different poisons after two launches was not written.
Failure check_outputs_written(const Evidence& e, std::string&) {
  const auto arguments = output_arguments(*e.spec);
  std::set<std::pair<const Workload*, std::size_t>> seen;
  for (std::size_t a = 0; a + 1 < e.checked.size(); ++a) {
    const auto &first = e.checked[a], &second = e.checked[a + 1];
    if (first.workload != second.workload || first.outputs.empty() || second.outputs.empty())
      continue;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i]->role != ArgRole::output || !seen.emplace(first.workload, i).second)
        continue;
      const auto &x = first.outputs[i].bytes, &y = second.outputs[i].bytes;
      std::vector<std::byte> px(x.size()), py(y.size());
      fill_poison(px.data(), px.size(), first.outputs[i].dtype, first.command.seed);
      fill_poison(py.data(), py.size(), second.outputs[i].dtype, second.command.seed);
      const std::size_t width = info(first.outputs[i].dtype).size_bytes;
      std::size_t unwritten = 0, where = 0;
      for (std::size_t at = 0; at < x.size(); at += width) {
        const auto holds = [&](const auto& value, const auto& poison) {
          return std::memcmp(&value[at], &poison[at], width) == 0;
        };
        if (!holds(x, px) || !holds(y, py) || std::memcmp(&px[at], &py[at], width) == 0) continue;
        if (unwritten++ == 0) where = at / width;
      }
      if (unwritten > 0) {
        return GateFailure{
            Status::wrong_result,
            "workload " + first.workload->name + ": " + std::to_string(unwritten) +
                " elements of output " + arguments[i]->name +
                " keep their poison (not written, or added to what stood there), the first is " +
                std::to_string(where)};
      }
    }
  }
  return std::nullopt;
}

Failure check_reference(const Evidence& e, std::string& figure) {
  std::set<std::pair<const Workload*, std::uint64_t>> inputs;
  for (const auto& launch : e.checked) inputs.emplace(launch.workload, launch.inputs->seed);
  figure =
      std::to_string(inputs.size()) + " input sets" +
      (e.reference_is_baseline ? ", against the baseline's own output: the spec has no reference"
                               : "");
  // The first order alone: the others are judged against it as well, by schedules_agree.
  return first_of(e.checked, [&](const CheckedLaunch& launch) {
    const bool asked = launch.command.schedule == Schedule::forward &&
                       !launch.command.over_results && launch.inputs->family.empty();
    return asked ? matches_reference(e, launch) : Failure{};
  });
}
Failure check_schedules(const Evidence& e, std::string& figure) {
  figure = "forward, reverse, random";
  return first_of(e.checked, [&](const CheckedLaunch& launch) {
    auto failure = launch.command.over_results || !launch.inputs->family.empty()
                       ? Failure{}
                       : matches_reference(e, launch);
    if (failure) failure->detail += " (right in forward order: a barrier may be missing)";
    return failure;
  });
}
Failure check_overwritten(const Evidence& e, std::string&) {
  return first_of(e.checked, [&](const CheckedLaunch& launch) {
    auto failure = launch.command.over_results ? matches_reference(e, launch) : Failure{};
    if (failure)
      failure->detail += " (right where outputs held nothing: the kernel looks at what they hold)";
    return failure;
  });
}
bool shares_buffer(const CheckedLaunch& launch) {
  return launch.command.shared[0] != launch.command.shared[1];
}

Failure check_structured(const Evidence& e, std::string& figure) {
  const auto asked = [](const CheckedLaunch& launch) {
    return !launch.inputs->family.empty() && !shares_buffer(launch);
  };
  figure = std::to_string(std::ranges::count_if(e.checked, asked)) + " sets of " +
           std::to_string(e.families);
  return first_of(e.checked, [&](const CheckedLaunch& launch) {
    return asked(launch) ? matches_reference(e, launch) : Failure{};
  });
}
Failure check_shared_buffers(const Evidence& e, std::string& figure) {
  figure = std::to_string(std::ranges::count_if(e.checked, shares_buffer)) + " launches";
  return first_of(e.checked, [&](const CheckedLaunch& launch) {
    return shares_buffer(launch) ? matches_reference(e, launch) : Failure{};
  });
}
Failure check_interleaved(const Evidence& e, std::string& figure) {
  figure = std::to_string(e.interleaved.size()) + " launches";
  return first_of(e.interleaved, [&](const CheckedLaunch& launch) {
    auto failure = matches_reference(e, launch);
    if (failure)
      failure->detail +=
          " (right where threads switch at barriers alone: an update that is not "
          "atomic, or a barrier is missing)";
    return failure;
  });
}
Failure check_store_order(const Evidence& e, std::string& figure) {
  if (e.baseline_stores_unordered) {
    figure = "not judged: the spec's own kernel leaves it open which of several stores is the last";
    return std::nullopt;
  }
  return first_of(e.interleaved, [&](const CheckedLaunch& launch) {
    const LaunchReply& reply = launch.answer.reply;
    if (reply.unordered_argument < 0) return Failure{};
    return Failure{{.status = Status::wrong_result,
                    .detail = "tensor " + argument_name(e, launch, reply.unordered_argument) +
                              ": different values are stored to " + reply.unordered_detail +
                              ", and no barrier, warp operation or fence says in which order"}};
  });
}
Failure check_timed(const Evidence& e, std::string& figure) {
  std::size_t samples = 0;
  for (const auto& launch : e.timed) samples += launch.answer.reply.samples_ns.size();
  figure = "last of " + std::to_string(samples) + " timed launches";
  for (const auto question :
       {&launch_ended, &guards_intact, &inputs_unchanged, &state_unchanged, &matches_reference}) {
    if (auto failure =
            first_of(e.timed, [&](const CheckedLaunch& launch) { return question(e, launch); }))
      return failure;
  }
  return std::nullopt;
}

Failure check_paired(const Evidence& e, std::string&) {
  if (e.timed_alone.empty()) return std::nullopt;
  return GateFailure{.status = Status::not_measured,
                     .detail = "the baseline could not be timed beside it on workload " +
                               e.timed_alone + ": a ratio to its earlier time says nothing"};
}

constexpr Gate kGates[] = {
    {"source", GateStage::compile,
     "headers, directives and names are those a kernel may use; no construct the host lacks",
     &check_source},
    {"compile", GateStage::compile, "the system compiler accepts the kernel within its limits",
     &check_compile},
    {"imports", GateStage::compile, "the object uses nothing but the shim and the math library",
     &check_imports},
    {"launch_contract", GateStage::load,
     "parameters fit the spec, launch numbers and shared memory the limits",
     &check_launch_contract},
    {"launch", GateStage::check,
     "every launch ends by itself: no crash, hang, divergent barrier or failed assertion",
     &check_launches},
    {"guard_zones", GateStage::check, "nothing beside tensors and shared memory is touched",
     &check_guard_zones},
    {"inputs_unchanged", GateStage::check, "inputs are the same bytes after the launch",
     &check_inputs},
    {"module_state", GateStage::check, "global variables are the same bytes after the launch",
     &check_state},
    {"outputs_written", GateStage::check, "no element keeps its poison", &check_outputs_written},
    {"reference", GateStage::check,
     "outputs agree with the reference within the spec's tolerance, on every input set",
     &check_reference},
    {"schedules_agree", GateStage::check,
     "so they do when threads and blocks run in reverse and in random order", &check_schedules},
    {"outputs_overwritten", GateStage::check,
     "so they do over most of an earlier result, some of it a little off", &check_overwritten},
    {"structured_inputs", GateStage::check,
     "so they do on inputs with a structure, on those that have it but for one element, and on "
     "other distributions",
     &check_structured},
    {"aliased_launches", GateStage::check, "so they do where tensors that may be one buffer are",
     &check_shared_buffers},
    {"interleavings", GateStage::check,
     "so they do where threads of a block switch between any two accesses to memory",
     &check_interleaved},
    {"store_order", GateStage::check,
     "no two threads store different values to one place in an order that is left to chance",
     &check_store_order},
    {"timed_launch", GateStage::time, "the last timed launch passes the same checks", &check_timed},
    {"paired_times", GateStage::time, "a finalist was timed in turn with the baseline",
     &check_paired},
};

}  // namespace

std::span<const Gate> gates() {
  return kGates;
}

std::string CheckedLaunch::label() const {
  constexpr std::string_view kOrders[] = {"forward", "reverse", "random"};
  return "workload " + workload->name + ", inputs of seed " + std::to_string(inputs->seed) + ", " +
         inputs->family + (inputs->family.empty() ? "" : ", ") +
         std::string(kOrders[static_cast<std::size_t>(command.schedule)]) + " order" +
         (command.over_results ? " over most of an earlier result" : "");
}

}  // namespace warpath::host
