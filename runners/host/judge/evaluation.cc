#include "runners/host/judge/evaluation.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/base/statistics.h"
#include "engine/portable/guard.h"
#include "runners/host/judge/launch_steps.h"
#include "runners/host/judge/timing_rounds.h"
#include "runners/host/options.h"
#include "runners/inputs/arguments.h"
#include "runners/inputs/input_choices.h"

namespace warpath::host {
namespace {

struct Order {
  bool fresh_inputs;
  Schedule schedule;
  Placement placement;
  std::uint8_t guards = 0;
  bool over_results = false;
};
/// The launches that every workload is checked by: both input sets, all three orders, canaries and
/// fences; the last one over what the one before left in the same place.
constexpr Order kOrders[] = {
    {false, Schedule::forward, Placement::canaries},
    {false, Schedule::reverse, Placement::fence, 5},
    {false, Schedule::random, Placement::fence_before, 1},
    {true, Schedule::forward, Placement::fence, 2},
    {true, Schedule::random, Placement::canaries, 3},
    {true, Schedule::forward, Placement::canaries, 4, true},
};
/// Of launches on inputs of other families, where launches take long; of a finalist's.
constexpr double kFamilySeconds = 2, kFinalFamilySeconds = 8;

/// One candidate's way through the gates.
class Evaluation {
 public:
  Evaluation(const EvaluationContext& context,
             const RunRequest& request,
             const std::stop_token& stop)
      : context_(context), request_(request), stop_(stop) {
    evidence_.spec = &request.spec;
    evidence_.variant = &request.variant;
    evidence_.launch_seconds = context.options.launch_seconds;
    evidence_.reference_is_baseline = context.oracle.is_baseline();
    for (const Workload* const workload : context.workloads)
      evidence_.kernels.push_back(&version_for(request.spec, request.variant, *workload));
  }

  Outcome run() {
    const auto start = std::chrono::steady_clock::now();
    stages();
    Outcome out = std::move(out_);
    out.verdict = verdict_.verdict();
    out.status = Status::ok;
    if (const auto& failure = verdict_.failure()) {
      out.status = failure->status;
      out.log = failure->detail;
      out.timings.clear();
    }
    // State that a kernel left in a process must not affect the next one.
    context_.worker.reset();
    if (request_.against != nullptr) context_.baseline_worker.reset();
    const double total =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (const auto& compiled : evidence_.compiled) {
      out.compile_seconds += compiled.seconds;
      if (!compiled.object_path.empty()) context_.compiler.forget(compiled.object_path);
    }
    out.run_seconds = std::max(0.0, total - out.compile_seconds);
    return out;
  }

  /// After run(): a worker got a signal that neither it nor the engine sends, as from the system
  /// when memory is short, or from a person.
  [[nodiscard]] bool killed_from_outside() const {
    const auto killed = [](const auto& answer) {
      return answer.loss && answer.loss->killed_from_outside();
    };
    return std::ranges::any_of(evidence_.loaded, killed) ||
           std::ranges::any_of(evidence_.checked, killed, &CheckedLaunch::answer) ||
           std::ranges::any_of(evidence_.timed, killed, &CheckedLaunch::answer);
  }

 private:
  void stages() {
    compile();
    if (!verdict_.judge(GateStage::compile, evidence_)) return;
    load();
    if (!verdict_.judge(GateStage::load, evidence_)) return;
    identify();
    for (std::size_t w = 0; w < context_.workloads.size(); ++w) {
      if (!check(w)) break;
    }
    for (std::size_t w = 0; w < context_.workloads.size(); ++w) check_interleaved(w);
    if (!verdict_.judge(GateStage::check, evidence_)) return;
    if (const std::string why = no_other_inputs(request_.spec); !why.empty()) {
      verdict_.skip("structured_inputs", why);
      verdict_.skip("aliased_launches", why);
    }
    time();
    verdict_.judge(GateStage::time, evidence_);
  }

  [[nodiscard]] static CompileJob job_of(const Variant& kernel,
                                         const Macros& macros,
                                         bool interleaved) {
    CompileJob job;
    job.source = kernel.source;
    job.kernels = {kernel.kernel_name};
    const std::vector<std::string> steps = step_kernels(kernel);
    job.kernels.insert(job.kernels.end(), steps.begin(), steps.end());
    job.macros = macros.text;
    job.integers = macros.integers;
    job.interleaved = interleaved;
    return job;
  }

  void compile() {
    for (std::size_t w = 0; w < context_.workloads.size(); ++w) {
      const Variant& kernel = *evidence_.kernels[w];
      const Macros macros = macros_for(request_.spec, *context_.workloads[w], kernel.tunables,
                                       kernel.compiler_options);
      const auto [it, added] =
          module_of_.try_emplace(std::pair(&kernel, macros), evidence_.compiled.size());
      modules_.push_back(it->second);
      if (!added) continue;
      evidence_.compiled_from.push_back(&kernel);
      if (!macros.refused.empty()) {
        Compiled refused;
        refused.status = Status::not_applicable;
        refused.gate = "source";
        refused.log = "compiler option '" + macros.refused + "' cannot be honoured on the host";
        evidence_.compiled.push_back(refused);
        return;
      }
      evidence_.compiled.push_back(context_.compiler.compile(job_of(kernel, macros, false), stop_));
      if (evidence_.compiled.back().status != Status::ok) return;
    }
  }

  void load() {
    for (std::size_t w = 0; w < context_.workloads.size(); ++w) {
      const Workload& workload = *context_.workloads[w];
      const Variant& kernel = *evidence_.kernels[w];
      const LaunchPlan& plan = launch_for(request_.spec, kernel, workload);
      try {
        evidence_.numbers.push_back(evaluate(plan,
                                             request_.spec.bindings(workload, kernel.tunables),
                                             "launch of workload " + workload.name));
        evidence_.extras.push_back(extra_numbers(request_.spec, kernel, workload));
      } catch (const Error& error) {  // a move may write an expression that fails
        evidence_.launch_problem = error.what();
        return;
      }
    }
    for (std::size_t i = 0; i < evidence_.compiled.size(); ++i)
      evidence_.loaded.push_back(
          context_.worker.load(evidence_.compiled[i].object_path, 0, limit(), stop_, steps(i)));
    loaded_ = evidence_.compiled.size() - 1;
  }

  void identify() {
    Hasher hash;
    for (const auto& compiled : evidence_.compiled) hash.add(compiled.binary);
    if (evidence_.compiled.size() > 1) {
      for (const std::size_t module : modules_) hash.add(static_cast<std::uint64_t>(module));
    }
    add_launches(hash, evidence_.numbers, evidence_.extras);
    out_.binary_key = hash.digest().hex();
  }

  /// All checked launches of one workload; false if one did not end well.
  bool check(std::size_t w) {
    const Workload& workload = *context_.workloads[w];
    const auto fixed = keep(context_.oracle.kept_inputs(workload, 0));
    const auto fresh =
        keep(context_.oracle.inputs(workload, request_.seed == 0 ? 1 : request_.seed));
    const InputSet* bound = nullptr;
    for (const Order& order : kOrders) {
      const InputSet* const inputs = order.fresh_inputs ? fresh : fixed;
      LaunchCommand next = command(w, order.schedule, order.placement);
      next.over_results = order.over_results;
      next.guards = order.guards;
      if (!check_on(w, inputs, std::move(next), evidence_.checked, inputs != bound)) return false;
      bound = inputs;
    }
    return check_families(w) && check_shared(w);
  }

  /// Launches on inputs of other families, over all constant guard patterns in turn.
  bool check_families(std::size_t w) {
    const Workload& workload = *context_.workloads[w];
    std::uint64_t bytes = 0;
    for (const auto& argument : bound_arguments(request_.spec, workload, *inputs_.front()))
      bytes += argument.size_bytes;
    constexpr Schedule kSchedules[] = {Schedule::forward, Schedule::random, Schedule::reverse};
    constexpr std::size_t kLeast = 2;
    const double begin = launched_seconds_,
                 most = request_.stage == Stage::final ? kFinalFamilySeconds : kFamilySeconds;
    std::size_t made = 0;
    const auto choices = Families::choices(
        request_.spec, workload, request_.stage == Stage::screening, request_.seed, bytes);
    evidence_.families += choices.size();
    for (const FamilyChoice& choice : choices) {
      if (made >= kLeast && launched_seconds_ - begin > most) break;
      const auto set = context_.families.of_family(workload, choice);
      if (!set) continue;
      LaunchCommand next =
          command(w, kSchedules[made % std::size(kSchedules)], placement_on(choice));
      next.shared_contents = static_cast<std::uint8_t>(1 + made % kSharedContents.size());
      next.guards = static_cast<std::uint8_t>(1 + made++ % portable::kConstantGuards);
      if (!check_on(w, keep(set), std::move(next), evidence_.checked)) return false;
    }
    return true;
  }

  /// Launches of code whose threads switch at memory accesses, after all other launches passed.
  /// Some failures there say nothing about the kernel: stacks are smaller and launches take longer.
  void check_interleaved(std::size_t w) {
    constexpr double kLongest = 0.05;
    const bool ended = !evidence_.checked.empty() && !evidence_.checked.back().answer.loss;
    if (request_.stage == Stage::screening || !ended || slowest_seconds_ > kLongest) return;
    const Workload& workload = *context_.workloads[w];
    const Variant& kernel = *evidence_.kernels[w];
    const Macros macros =
        macros_for(request_.spec, workload, kernel.tunables, kernel.compiler_options);
    Compiled code = context_.compiler.compile(job_of(kernel, macros, true), stop_);
    if (code.status != Status::ok) return;
    evidence_.compiled.push_back(std::move(code));
    evidence_.compiled_from.push_back(&kernel);
    const std::size_t own = std::exchange(modules_[w], evidence_.compiled.size() - 1);
    const double slowest = slowest_seconds_;
    const auto equal = context_.families.of_family(workload, {.family = InputFamily::constant});
    const auto declared = context_.oracle.kept_inputs(workload, 0);
    std::vector<std::shared_ptr<const InputSet>> sets{declared, equal == nullptr ? declared : equal,
                                                      declared};
    const std::size_t side_by_side = sets.size() - 1;  // the others' blocks run one after another
    for (const FamilyChoice& choice : colliding_choices(request_.spec, workload)) {
      if (auto set = context_.families.of_family(workload, choice)) sets.push_back(std::move(set));
    }
    for (std::size_t i = 0; i < sets.size(); ++i) {
      LaunchCommand next = command(w, Schedule::random, Placement::canaries);
      next.interleaved = true;
      next.orders_stores = i >= side_by_side;
      if (check_on(w, keep(sets[i]), std::move(next), evidence_.interleaved)) {
        const CheckedLaunch& launch = evidence_.interleaved.back();
        bool& is_open = evidence_.baseline_stores_unordered;
        const bool unordered = launch.answer.reply.unordered_argument >= 0;
        is_open = is_open || (unordered && baseline_stores_unordered(w, launch));
        if (unordered && !is_open) break;
        continue;
      }
      if (evidence_.interleaved.back().answer.reply.end == BlockEnd::misaligned)
        evidence_.checked.push_back(std::move(evidence_.interleaved.back()));
      evidence_.interleaved.pop_back();
      break;
    }
    modules_[w] = own;
    slowest_seconds_ = slowest;
  }

  /// True also where that cannot be said.
  bool baseline_stores_unordered(std::size_t w, const CheckedLaunch& launch) {
    const Workload& workload = *context_.workloads[w];
    const Variant& kernel = context_.baseline.variant();
    const Macros macros =
        macros_for(request_.spec, workload, kernel.tunables, kernel.compiler_options);
    const Compiled code = context_.compiler.compile(job_of(kernel, macros, true), stop_);
    if (code.status != Status::ok) return true;
    LaunchCommand next = launch_of(kernel, workload, launch.command);
    const auto loaded = context_.baseline_worker.load(code.object_path, 0, limit(), stop_,
                                                      step_kernels(kernel).size());
    const bool placed =
        !loaded.loss && loaded.reply.problem.empty() &&
        !context_.baseline_worker.bind(bound_arguments(request_.spec, workload, *launch.inputs),
                                       limit(), stop_, struct_parameters(request_.spec));
    const auto answer =
        placed ? context_.baseline_worker.launch(next, limit(), stop_) : Answer<LaunchReply>{};
    context_.baseline_worker.reset();
    context_.compiler.forget(code.object_path);
    return !placed || answer.loss || answer.reply.end != BlockEnd::done ||
           answer.reply.unordered_argument >= 0;
  }

  /// Launches on tensors that share a buffer, where the spec lets them.
  bool check_shared(std::size_t w) {
    for (const SharedBuffer& shared : shared_buffers(request_.spec, *context_.workloads[w])) {
      const auto set = context_.families.of_shared(*context_.workloads[w], shared);
      if (!set) continue;
      LaunchCommand next = command(w, Schedule::random, Placement::canaries);
      next.shared = {shared.first, shared.second};
      if (!check_on(w, keep(set), std::move(next), evidence_.checked)) return false;
    }
    return true;
  }

  bool check_on(std::size_t w,
                const InputSet* inputs,
                LaunchCommand next,
                std::vector<CheckedLaunch>& to,
                bool bind = true) {
    CheckedLaunch launch;
    launch.workload = context_.workloads[w];
    launch.inputs = inputs;
    launch.command = std::move(next);
    if (auto loss = bind ? place(w, *inputs) : std::nullopt)
      launch.answer.loss = loss;
    else
      launch.answer = context_.worker.launch(launch.command, limit(), stop_);
    return add(std::move(launch), to);
  }

  void time() {
    for (std::size_t w = 0; w < context_.workloads.size(); ++w) {
      if (context_.workloads[w]->role == WorkloadRole::regress) continue;
      WorkloadTiming timing;
      timing.workload = context_.workloads[w]->name;
      timing.launch = evidence_.numbers[w];
      timing.cache = "cpu";
      const InputSet& inputs = *keep(context_.oracle.kept_inputs(*context_.workloads[w], 0));
      bool paired = place_baseline(w, inputs);
      rounds_ = timing_rounds(slowest_seconds_);
      std::vector<std::vector<double>> candidate(rounds_), baseline(rounds_);
      for (std::size_t round = 0; round < rounds_; ++round) {
        const bool baseline_first = round % 2 == 0;
        if (baseline_first) paired = paired && time_baseline(w, baseline[round]);
        if (!time_candidate(w, inputs, round == 0, candidate[round])) return;
        if (!baseline_first) paired = paired && time_baseline(w, baseline[round]);
      }
      timing.samples_ns = quiet(candidate);
      if (paired) timing.baseline_samples_ns = quiet(baseline);
      if (!paired && request_.stage == Stage::final && !is_baseline())
        evidence_.timed_alone = timing.workload;
      out_.timings.push_back(std::move(timing));
    }
  }

  bool time_candidate(std::size_t w,
                      const InputSet& inputs,
                      bool bind,
                      std::vector<double>& samples) {
    CheckedLaunch launch;
    launch.workload = context_.workloads[w];
    launch.inputs = &inputs;
    launch.command = command(w, Schedule::forward, Placement::canaries);
    const TimeCommand timing = timing_round(launch.command, rounds_, context_.options);
    if (auto loss = bind ? place(w, inputs) : std::nullopt)
      launch.answer.loss = loss;
    else
      launch.answer = context_.worker.time(
          timing, timing_limit(timing, slowest_seconds_, context_.options), stop_);
    if (!add(std::move(launch), evidence_.timed)) return false;
    const auto& taken = evidence_.timed.back().answer.reply.samples_ns;
    samples.insert(samples.end(), taken.begin(), taken.end());
    return true;
  }

  /// What the candidate is timed in turn with.
  [[nodiscard]] const Variant& other() const {
    return request_.against == nullptr ? context_.baseline.variant() : *request_.against;
  }

  [[nodiscard]] bool is_baseline() const {
    return request_.against == nullptr && request_.variant == other();
  }

  /// False: the candidate is the baseline itself, or the other one cannot be launched.
  bool place_baseline(std::size_t w, const InputSet& inputs) {
    const Workload& workload = *context_.workloads[w];
    if (is_baseline()) return false;
    const Variant& kernel = version_for(request_.spec, other(), workload);
    const std::string object = context_.baseline.object(kernel, workload);
    if (object.empty()) return false;
    const auto loaded =
        context_.baseline_worker.load(object, 0, limit(), stop_, step_kernels(kernel).size());
    return !loaded.loss && loaded.reply.problem.empty() &&
           !context_.baseline_worker.bind(bound_arguments(request_.spec, workload, inputs), limit(),
                                          stop_, struct_parameters(request_.spec));
  }

  bool time_baseline(std::size_t w, std::vector<double>& samples) {
    const Workload& workload = *context_.workloads[w];
    const Variant& variant = version_for(request_.spec, other(), workload);
    const LaunchCommand launch =
        launch_of(variant, workload, command(w, Schedule::forward, Placement::canaries));
    const TimeCommand timing = timing_round(launch, rounds_, context_.options);
    const auto answer = context_.baseline_worker.time(
        timing, timing_limit(timing, context_.options.launch_seconds, context_.options), stop_);
    if (answer.loss || answer.reply.end != BlockEnd::done) return false;
    const auto& taken = answer.reply.samples_ns;
    samples.insert(samples.end(), taken.begin(), taken.end());
    return true;
  }

  /// Loads the workload's module, if another one is loaded, and binds its arguments.
  std::optional<WorkerLoss> place(std::size_t w, const InputSet& inputs) {
    if (loaded_ != modules_[w]) {
      const auto answer = context_.worker.load(evidence_.compiled[modules_[w]].object_path, 0,
                                               limit(), stop_, steps(modules_[w]));
      if (answer.loss) return answer.loss;
      loaded_ = modules_[w];
    }
    return context_.worker.bind(bound_arguments(request_.spec, *context_.workloads[w], inputs),
                                limit(), stop_, struct_parameters(request_.spec));
  }

  LaunchCommand command(std::size_t w, Schedule schedule, Placement placement) {
    LaunchCommand out;
    out.numbers = evidence_.numbers[w];
    out.schedule = schedule;
    out.placement = placement;
    out.seed = mix64(request_.seed + ++launches_);
    set_extras(*evidence_.kernels[w], evidence_.extras[w], out);
    return out;
  }

  /// The same launch of another kernel.
  [[nodiscard]] LaunchCommand launch_of(const Variant& kernel,
                                        const Workload& workload,
                                        LaunchCommand out) const {
    set_extras(kernel, extra_numbers(request_.spec, kernel, workload), out);
    out.numbers = evaluate(launch_for(request_.spec, kernel, workload),
                           request_.spec.bindings(workload, kernel.tunables),
                           "launch of workload " + workload.name);
    return out;
  }

  /// Kernels of steps, the entries behind the main one of a module.
  [[nodiscard]] std::size_t steps(std::size_t module) const {
    return step_kernels(*evidence_.compiled_from[module]).size();
  }

  bool add(CheckedLaunch launch, std::vector<CheckedLaunch>& to) {
    const auto& reply = launch.answer.reply;
    const bool done = !launch.answer.loss && reply.end == BlockEnd::done;
    const auto outputs = output_arguments(request_.spec);
    for (std::size_t i = 0; done && i < outputs.size(); ++i) {
      Tensor tensor{
          outputs[i]->tensor->dtype, request_.spec.shape_of(*outputs[i], *launch.workload), {}};
      const auto expected =
          static_cast<std::size_t>(tensor.elements()) * info(tensor.dtype).size_bytes;
      if (i < reply.outputs.size()) tensor.bytes = reply.outputs[i];
      tensor.bytes.resize(expected);  // a worker with overwritten memory may send anything
      launch.outputs.push_back(std::move(tensor));
    }
    if (done && !reply.samples_ns.empty()) {
      const double seconds = reply.samples_ns.front() * 1e-9;
      slowest_seconds_ = std::max(slowest_seconds_, seconds);
      launched_seconds_ += seconds;
    }
    launch.answer.reply.outputs.clear();
    to.push_back(std::move(launch));
    return done;
  }

  const InputSet* keep(std::shared_ptr<const InputSet> inputs) {
    inputs_.push_back(std::move(inputs));
    return inputs_.back().get();
  }
  [[nodiscard]] WorkerClient::Limit limit() const {
    return WorkerClient::Limit(context_.options.launch_seconds + 1);
  }

  const EvaluationContext& context_;
  const RunRequest& request_;
  const std::stop_token& stop_;
  Evidence evidence_;
  VerdictBuilder verdict_;
  Outcome out_;
  std::map<std::pair<const Variant*, Macros>, std::size_t> module_of_;
  std::vector<std::size_t> modules_;  // of each workload
  std::size_t loaded_ = 0;
  std::uint64_t launches_ = 0;
  double slowest_seconds_ = 0, launched_seconds_ = 0;  // a launch, all of them
  std::size_t rounds_ = 1;
  std::vector<std::shared_ptr<const InputSet>> inputs_;
};

}  // namespace

Outcome evaluate_variant(const EvaluationContext& context,
                         const RunRequest& request,
                         const std::stop_token& stop) {
  Evaluation evaluation(context, request, stop);
  Outcome outcome = evaluation.run();
  if (!evaluation.killed_from_outside() || stop.stop_requested()) return outcome;
  // a kernel that gets its process killed does so again
  return Evaluation(context, request, stop).run();
}

}  // namespace warpath::host
