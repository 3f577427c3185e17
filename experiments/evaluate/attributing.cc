#include "experiments/evaluate/attributing.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/json/json_reader.h"
#include "engine/log/run_folder.h"
#include "engine/plugin/objective.h"
#include "engine/spec/spec_check.h"
#include "experiments/build_facts.h"
#include "experiments/console/table_text.h"
#include "experiments/evaluate/evaluation_report.h"
#include "experiments/evaluate/evaluation_setup.h"
#include "experiments/evaluate/short_path.h"
#include "experiments/propose/move_workers.h"
#include "experiments/setup/runner_choice.h"
#include "moves/contract/contract_text.h"
#include "moves/contract/source_contract.h"
#include "priors/evidence/signatures.h"
#include "runners/cuda/compile/compile_check.h"
#include "runners/cuda/options.h"

namespace warpath {
namespace {

constexpr double kWorthConfidence = 0.95;
constexpr int kWorthDraws = 1000;
constexpr const char* kFile = "attribution.json";

/// Without floors for guard workloads: a kernel without one of its moves may be slow on any of
/// them.
KernelSpec without_floors(KernelSpec spec) {
  for (Workload& workload : spec.workloads) workload.min_speedup = 0;
  return spec;
}

/// One run of `attribute`.
class Attributing {
 public:
  Attributing(const AttributionSetup& setup, const MoveTable& moves, Runner& runner)
      : setup_(setup),
        runner_(runner),
        device_(runner.device()),
        spec_(without_floors(setup.run.spec())),
        path_(recorded_path(setup.run, setup.node, spec_, device_, moves)) {
    out_.name = spec_.name;
    out_.runner = setup.runner_text;
    out_.device = device_.name;
    out_.best = variant_key(path_.kernel());
    out_.repeat = setup.repeat;
    out_.stage = name(setup.stage);
    plan();
  }

  /// Runs before any measurement, so that a wrong architecture is reported at once.
  void look_at_code(const std::stop_token& stop) {
    if (setup_.code == "none") {
      out_.code_why = "--code none";
      return;
    }
    const std::string arch = setup_.code      ? *setup_.code
                             : device_.is_gpu ? device_.arch
                                              : kAssumedArch;
    try {
      if (!kHasCudaHeaders)
        throw environment_error("this program was built without the CUDA headers");
      cuda::CompileCheck check(setup_.options.of<CudaOptions>(), setup_.program, arch);
      check.prepare(setup_.run.spec());
      const cuda::Disassembler tool = cuda::find_disassembler();
      out_.code_arch = arch;
      out_.code_decides = setup_.code.has_value() || device_.is_gpu;
      std::string why_before, why_after;
      std::optional<CodeCounts> before = check.code(path_.before(0), tool, why_before, stop);
      for (std::size_t step = 0; step < path_.size(); ++step) {
        const Variant& child = step + 1 < path_.size() ? path_.before(step + 1) : path_.kernel();
        std::optional<CodeCounts> after = check.code(child, tool, why_after, stop);
        CodeEvidence evidence{.realised = std::nullopt,
                              .why = before ? why_after : why_before,
                              .arch = arch,
                              .tool = "",
                              .readings = {},
                              .difference = {}};
        if (before && after)
          evidence = SignatureTable::built_in().compare(path_.instance(step), *before, *after);
        out_.moves[step].code = std::move(evidence);
        before = std::move(after);
        why_before = why_after;
      }
    } catch (const Error& error) {  // optional unless it was requested: times are useful without it
      if (setup_.code) throw;
      out_.code_arch.clear();
      out_.code_why = error.what();
      out_.code_decides = false;
      for (MoveAttribution& move : out_.moves) move.code.reset();
    }
  }

  [[nodiscard]] bool measure(const std::function<void(const EvaluationFigures&)>& on_tick,
                             const std::stop_token& stop,
                             const std::stop_token& abandon) {
    const EvaluationPlan plan{.spec = spec_,
                              .candidates = candidates_,
                              .repeat = setup_.repeat,
                              .stage = setup_.stage,
                              .seed = setup_.options.run.seed,
                              .against = &path_.kernel()};
    const EvaluationFigures figures = evaluate_candidates(
        plan, runner_, [&](const Evaluated& result) { take(result); }, on_tick, stop, abandon);
    return !figures.interrupted;
  }

  Attribution finish() {
    for (std::size_t i = 0; i < candidates_.size(); ++i) settle(i);
    judge(out_);
    return std::move(out_);
  }

 private:
  void plan() {
    const std::vector<std::size_t> nodes = setup_.run.path(setup_.node);
    out_.moves.resize(path_.size());
    ask(path_.kernel(), &out_.control);
    ask(path_.before(0), &out_.whole);
    for (std::size_t step = 0; step < path_.size(); ++step) {
      MoveAttribution& move = out_.moves[step];
      move.move = path_.instance(step).text();
      move.proposer = setup_.run.nodes()[nodes[step + 1]].proposer;
      move.parent = setup_.run.nodes()[nodes[step]].key;
      move.child = setup_.run.nodes()[nodes[step + 1]].key;
      ask(path_.without(step), move.without);
      const auto reversed = path_.reversed(step);
      if (!reversed) continue;
      move.reverse_move = reversed->instance.text();
      ask(reversed->result, move.reverse);
    }
  }

  void ask(const LeftOut& wanted, Ablation& to) {
    to.also_without = wanted.needing;
    if (!wanted.variant) {
      to.why = wanted.why;
    } else if (variant_key(*wanted.variant) == out_.best) {
      to = {.key = out_.best,
            .status = Status::ok,
            .speedup = 1,
            .interval = {1, 1},
            .evaluations = 0,
            .paired = true,
            .why = "the other moves lead to the same kernel",
            .also_without = wanted.needing};
    } else {
      ask(*wanted.variant, &to);
    }
  }

  /// Equal variants are evaluated once.
  void ask(const Variant& variant, Ablation* to) {
    to->key = variant_key(variant);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (answers_[i].front()->key == to->key) return answers_[i].push_back(to);
    }
    candidates_.push_back({.name = to->key->hex(), .variant = variant, .expectation = {}});
    answers_.push_back({to});
    outcomes_.emplace_back();
  }

  void take(const Evaluated& result) {
    if (result.candidate == nullptr) {
      kernel_ = result.outcome;
    } else {
      outcomes_[static_cast<std::size_t>(result.candidate - candidates_.data())].push_back(
          result.outcome);
    }
  }

  void settle(std::size_t i) {
    Ablation answer = ablation_of(spec_, device_, kernel_, outcomes_[i], setup_.options.run.seed);
    answer.key = answers_[i].front()->key;
    for (Ablation* const to : answers_[i]) {
      answer.also_without = std::move(to->also_without);
      *to = answer;
    }
  }

  const AttributionSetup& setup_;
  Runner& runner_;
  const DeviceFacts device_;
  const KernelSpec spec_;
  const MovePath path_;
  Attribution out_;
  std::vector<Candidate> candidates_;
  std::vector<std::vector<Ablation*>> answers_;  // by candidate, into out_
  std::vector<std::vector<Outcome>> outcomes_;   // by candidate
  Outcome kernel_;
};

}  // namespace

MovePath recorded_path(const RecordedRun& run,
                       std::size_t node,
                       const KernelSpec& spec,
                       const DeviceFacts& device,
                       const MoveTable& moves) {
  std::vector<Variant> variants;
  std::vector<MoveInstance> instances;
  for (const std::size_t step : run.path(node)) {
    variants.push_back(run.variant(step));
    if (variants.size() > 1) instances.push_back(run.nodes()[step].instance);
  }
  return {moves, spec, device, std::move(variants), std::move(instances)};
}

Ablation ablation_of(const KernelSpec& spec,
                     const DeviceFacts& device,
                     const Outcome& kernel,
                     const std::vector<Outcome>& outcomes,
                     std::uint64_t seed) {
  Ablation answer;
  answer.evaluations = static_cast<int>(outcomes.size());
  const auto bad =
      std::ranges::find_if(outcomes, [](const Outcome& o) { return o.status != Status::ok; });
  answer.status = bad == outcomes.end() ? Status::ok : bad->status;
  if (bad != outcomes.end()) {
    const std::string gate = failed_gate(*bad);
    answer.why = gate + (gate.empty() || bad->log.empty() ? "" : ": ") +
                 bad->log.substr(0, bad->log.find('\n'));
    return answer;
  }
  ObjectiveFunction objective(spec, device, 0);
  const SpeedupEstimate over =
      speedup_estimate(objective, kernel, outcomes, kWorthConfidence, kWorthDraws, seed);
  answer.speedup = 1 / over.speedup;  // of the kernel over this one
  answer.interval = {1 / over.interval.high, 1 / over.interval.low};
  answer.paired = std::ranges::all_of(
      outcomes, [](const Outcome& o) { return !o.timings.front().baseline_samples_ns.empty(); });
  return answer;
}

std::optional<Attribution> attribute(const AttributionSetup& setup,
                                     const MoveTable& moves,
                                     Runner& runner,
                                     const std::function<void(const EvaluationFigures&)>& on_tick,
                                     const std::stop_token& stop,
                                     const std::stop_token& abandon) {
  const RecordedNode& node = setup.run.nodes()[setup.node];
  if (node.parent == kNoNode)
    throw bad_input("NODE", node.key.short_hex(),
                    "a kernel that moves led to: this is the baseline");
  if (!node.outcome || node.outcome->status != Status::ok)
    throw bad_input("NODE", node.key.short_hex(), "a kernel that was measured and is right");
  Attributing work(setup, moves, runner);
  work.look_at_code(stop);
  if (!work.measure(on_tick, stop, abandon)) return std::nullopt;
  return work.finish();
}

std::optional<Attribution> attribute_run(const AttributionRequest& request,
                                         const Plugins& plugins,
                                         const Program& program,
                                         const InterruptWatch& interrupts) {
  const RecordedRun run(request.folder, RecordedRun::For::building);
  const RunFolder lock(request.folder);
  const MoveWorkers workers(plugins.moves, move_workers_setup(request.options, program));
  const MoveTable moves(workers.moves());
  const auto new_runner = [&] {
    auto runner = create_runner(request.runner, plugins.runners, request.options, program.path);
    static_cast<void>(runner->substitute(run.spec()));
    return runner;
  };
  EvaluationProgress progress(run.spec().name + " attribution");
  const auto show = [&](const EvaluationFigures& now) { progress.show(now); };
  const AttributionSetup setup{.run = run,
                               .node = run.find(request.node),
                               .runner_text = request.runner.text(),
                               .options = request.options,
                               .repeat = request.repeat,
                               .stage = request.stage,
                               .code = request.code,
                               .program = program.path};
  auto out = attribute(setup, moves, *new_runner(), show, interrupts.stop(), interrupts.abandon());
  Variant variant;
  if (out)
    out->short_path = shorten_path(setup, *out, moves, *new_runner(), show, interrupts.stop(),
                                   interrupts.abandon(), &variant);
  progress.clear();
  if (!out) return out;
  const std::filesystem::path source = request.folder / "short_kernel.cu";
  std::error_code absent;
  std::filesystem::remove(source, absent);
  if (out->short_path && out->short_path->as_good)
    write_file_atomically(
        source,
        shipped_source(run.spec(), variant, source_contract(run.spec(), run.device(), variant)));
  write_file_atomically(request.folder / kFile, to_json(*out).dump(2) + "\n");
  return out;
}

std::optional<Attribution> recorded_attribution(const std::filesystem::path& folder) {
  const std::string file = (folder / kFile).string();
  if (!std::filesystem::exists(file)) return std::nullopt;
  return attribution_from_json(read_json_file(file), file);
}

std::string ablation_text(const Ablation& ablation) {
  if (!ablation.measured()) return ablation.status ? std::string(name(*ablation.status)) : "-";
  return ratio_text(ablation.speedup, ablation.interval);
}

std::string evidence_text(const MoveAttribution& move) {
  if (!move.code) return "-";
  const CodeEvidence& code = *move.code;
  return std::string(!code.realised   ? "unknown"
                     : *code.realised ? "yes"
                                      : "no") +
         (code.why.empty() ? "" : ": " + code.why);
}

std::string short_path_text(const ShortPath& path) {
  std::string left, kept;
  for (const std::string& move : path.left_out) left += (left.empty() ? "" : ", ") + move;
  for (const std::string& move : path.moves) kept += (kept.empty() ? "" : "; ") + move;
  return "without what gains nothing (" + left +
         "): " + (path.as_good ? "as good, the best over it " : "not as good, the best over it ") +
         ablation_text(path.ablation) + ", " + path.verdict + ", " +
         std::to_string(path.moves.size()) + (path.moves.size() == 1 ? " move: " : " moves: ") +
         kept + (path.as_good ? " (short_kernel.cu)" : "");
}

std::string attribution_table(const Attribution& attribution) {
  std::vector<std::vector<std::string>> rows{
      {"move", "verdict", "speed-up", "undone", "in the code", "reason"}};
  for (const MoveAttribution& move : attribution.moves) {
    const bool told = move.verdict == Contribution::invalid ||
                      move.verdict == Contribution::unmeasured || !move.without.why.empty() ||
                      !move.without.also_without.empty();
    rows.push_back({move.move, std::string(name(move.verdict)), ablation_text(move.without),
                    move.reverse_move.empty() ? "-" : ablation_text(move.reverse),
                    evidence_text(move), told ? move.why : ""});
  }
  std::string out = attribution.name + ": " + attribution.runner + " runner on " +
                    attribution.device + ", kernel " + attribution.best.short_hex() + "\n";
  out += timing_heading(attribution.runner) + aligned_text(rows) +
         "all moves: " + ablation_text(attribution.whole) +
         "; the kernel against itself: " + ablation_text(attribution.control) + "\n";
  out += std::to_string(attribution.repeat) + " evaluations each; speed-ups within " +
         percent_text(attribution.least_gain, 2) + " of 1 are no difference\n";
  return attribution.short_path ? out + short_path_text(*attribution.short_path) + "\n" : out;
}

}  // namespace warpath
