#include "experiments/evaluate/batch.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/log/event_log.h"
#include "engine/log/run_folder.h"
#include "engine/run/run_identity.h"
#include "engine/search/search.h"
#include "engine/spec/spec_check_files.h"
#include "engine/spec/spec_load.h"
#include "experiments/console/option_layers.h"
#include "experiments/evaluate/trials.h"
#include "experiments/propose/move_workers.h"
#include "experiments/setup/environment.h"
#include "experiments/setup/memory.h"
#include "experiments/setup/option_groups.h"
#include "experiments/setup/prior_files.h"
#include "experiments/setup/shipping.h"
#include "experiments/setup/spec_problems.h"
#include "moves/propose/rule_proposer.h"
#include "priors/evidence/findings.h"
#include "priors/llm/options.h"
#include "runners/cluster/options.h"
#include "runners/ledger/ledger_runner.h"
#include "runners/pool.h"
#include "runners/replay/options.h"

namespace warpath {
namespace fs = std::filesystem;
namespace {

/// The specs recorded by the runs in `outdir`: what `--resume` without `--input` continues.
std::vector<std::string> recorded_inputs(const fs::path& outdir) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(outdir / "kernels", error)) {
    if (RunFolder::has_run(entry.path()))
      files.push_back((entry.path() / "input_spec.json").string());
  }
  std::sort(files.begin(), files.end());
  if (files.empty())
    throw bad_input("--resume", outdir.string(), "a folder that holds runs, or --input SPEC");
  return files;
}

std::vector<KernelSpec> wanted_specs(const Arguments& arguments, const fs::path& outdir) {
  std::vector<std::string> inputs = arguments.values("input");
  if (inputs.empty() && arguments.has("resume")) inputs = recorded_inputs(outdir);
  if (inputs.empty()) throw bad_input("warpath run", "", "--input SPEC|FOLDER...");
  std::vector<KernelSpec> specs = load_specs(inputs);
  const std::vector<std::string> patterns = arguments.values("name");
  if (patterns.empty()) return specs;
  std::string names;
  for (const KernelSpec& spec : specs) names += (names.empty() ? "" : ", ") + spec.name;
  std::erase_if(specs, [&](const KernelSpec& spec) {
    return std::none_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
      return fnmatch(pattern.c_str(), spec.name.c_str(), 0) == 0;
    });
  });
  if (specs.empty()) throw bad_input("--name", patterns.front(), "one of " + names);
  return specs;
}

using LedgerMode = EvaluationLedger::Mode;

LedgerMode ledger_mode(const Options& options) {
  return EvaluationLedger::parse_mode(options.record.evaluations_mode, "record.evaluations_mode");
}

/// Nothing is evaluated: no device is needed.
bool only_replays(const Options& options) {
  return !options.record.evaluations.empty() && ledger_mode(options) == LedgerMode::replay;
}

RunnerChoice runner_of(const std::string& text,
                       const KernelSpec& spec,
                       const Options& options,
                       const Plugins& plugins) {
  if (!only_replays(options)) return choose_runner(text, plugins.runners, options);
  const EvaluationLedger ledger(options.record.evaluations, LedgerMode::replay);
  const Hash128 hash = hash128(to_json(spec).dump());
  const std::string recorded =
      ledger.scene(hash, text == "auto" ? "" : text, evaluation_settings(options)).runner;
  const auto colon = recorded.find(':');
  return {.name = recorded.substr(0, colon),
          .argument = colon == std::string::npos ? "" : recorded.substr(colon + 1)};
}

std::unique_ptr<Runner> make_runner(const KernelRun& planned,
                                    const Plugins& plugins,
                                    const Program& program) {
  const auto make = [&] {
    return create_runner(planned.runner, plugins.runners, planned.options, program.path);
  };
  const LedgerMode mode = ledger_mode(planned.options);
  if (planned.options.record.evaluations.empty()) return make();
  return ledger_runner(only_replays(planned.options) ? nullptr : make(),
                       std::make_unique<EvaluationLedger>(planned.options.record.evaluations, mode),
                       planned.runner.text(), planned.spec, planned.options);
}

/// OUT of OUT/kernels/<name>.
fs::path outdir_of(const KernelRun& planned) {
  return planned.folder.parent_path().parent_path();
}

std::unique_ptr<Prior> make_prior(const KernelRun& planned, bool resumed, const Plugins& plugins) {
  return plugins.priors.create(
      "run.prior", planned.options.run.prior,
      run_prior_config(planned.options, planned.folder, outdir_of(planned), resumed));
}

void remember_run(const KernelRun& planned, const Plugins& plugins, SessionObserver& observer) {
  const RunnerTraits* const runner = plugins.runners.traits(planned.runner.name);
  if (!planned.options.record.memory || runner == nullptr || !runner->evaluates) return;
  try {
    remember(outdir_of(planned), RecordedTrials(planned.folder).experiences(), false);
  } catch (const Error& error) {
    observer.on_note(
        std::string(error.what()) +
        "; what this run tried is not remembered (warpath tactics makes the memory anew)");
  }
}

/// A search that is to end near a bound needs a spec that declares its work, and a GPU.
void require_bound(const KernelRun& planned, const Runner& runner) {
  if (!make_stop(planned.options)->needs_bound()) return;
  if (!runner.device().is_gpu)
    throw bad_input("--until", "runner " + planned.runner.text(),
                    "a runner that times a GPU: only there a lower time bound is known");
  const WorkBound& bound = planned.spec.bound;
  if (!bound.bytes && bound.flops.empty())
    throw bad_input("--until", planned.spec.origin,
                    "a spec that declares its work: /bound/bytes or /bound/flops (docs/spec.md)");
}

/// Everything about one kernel that can be refused without running anything.
void check_kernel(const KernelRun& planned, const Plugins& plugins, const Program& program) {
  check_search_options(planned.options);
  static_cast<void>(parse_sync_rule(planned.options.record.sync, "record.sync"));
  static_cast<void>(make_prior(planned, RunFolder::has_run(planned.folder), plugins));
  check_move_names(planned.options, plugins);
  if (!searched_on_site(planned)) {
    const auto runner = make_runner(planned, plugins, program);
    require_bound(planned, *runner);
    if (runner->substitute(planned.spec)) return;
  } else if (!launches_kernels(planned.runner.name)) {
    return;
  }
  const std::string problem = run_problem(planned.spec);
  if (!problem.empty())
    throw bad_input(planned.spec.origin, problem,
                    "a spec that can be searched; --name leaves it out");
  require_no_problems(planned.spec);
}

void check_outdir(const fs::path& outdir) {
  std::error_code error;
  fs::path existing = fs::absolute(outdir);
  while (!fs::exists(existing, error) && existing.has_relative_path())
    existing = existing.parent_path();
  if (!fs::is_directory(existing, error))
    throw bad_input("--outdir", existing.string(), "a folder");
}

}  // namespace

bool searched_on_site(const KernelRun& planned) {
  return !planned.options.of<ClusterOptions>().kernels.empty();
}

void check_move_names(const Options& options, const Plugins& plugins) {
  const auto check = [&](const char* option, std::string_view names) {
    for (const std::string& name : move_names(names)) {
      if (!plugins.moves.contains(name))
        throw bad_input(option, name, "moves of `warpath moves`, separated by commas");
    }
  };
  check("run.without_moves", options.run.without_moves);
  check("replay.late_moves", options.of<ReplayOptions>().late_moves);
}

std::vector<KernelRun> plan_batch(const Arguments& arguments,
                                  const Plugins& plugins,
                                  const Program& program) {
  const fs::path outdir = arguments.value("outdir").value_or("out");
  const bool resume = arguments.has("resume");
  const auto runner_text = arguments.value("runner");
  check_outdir(outdir);
  std::vector<ForeignProposal> proposals;
  for (const std::string& file : arguments.values("proposals")) {
    for (ForeignProposal& p : read_proposals(file)) proposals.push_back(std::move(p));
  }
  std::vector<KernelRun> runs;
  for (KernelSpec& spec : wanted_specs(arguments, outdir)) {
    const fs::path folder = outdir / "kernels" / spec.name;
    const bool recorded = RunFolder::has_run(folder);
    if (recorded && !resume)
      throw bad_input(folder.string(), "a run", "--resume to continue it, or another --outdir");
    std::optional<RecordedConfig> record;
    if (recorded) record = recorded_config(folder, default_options());
    const std::string text = runner_text.value_or(record ? record->runner_text : "auto");
    const Options options = apply_layers(record ? record->options : default_options(), arguments);
    KernelRun planned{.spec = spec,
                      .options = options,
                      .runner = runner_of(text, spec, options, plugins),
                      .folder = folder,
                      .proposals = proposals};
    if (!arguments.has("no-llm")) {
      std::string why;
      planned.llm = llm_access(options.of<LlmOptions>(), why);
      if (!planned.llm &&
          !(options.of<LlmOptions>().model.empty() && options.of<LlmOptions>().profile.empty()) &&
          runs.empty())
        std::fprintf(stderr, "warpath: %s\n", why.c_str());
    }
    check_kernel(planned, plugins, program);
    runs.push_back(std::move(planned));
  }
  for (const KernelRun& planned : runs) {
    if (planned.llm) llm::forget_key(planned.llm->key_variable);
  }
  return runs;
}

namespace {

/// Those whose proposals a search on `runner` does not leave out: others need not be asked.
MoveRegistry moves_that_count(const MoveRegistry& moves, const Runner& runner) {
  MoveRegistry out("move");
  for (const auto& [name, entry] : moves.entries()) {
    if (!runner.only_tunables() || name == kSetTunable) out.add(name, entry.help, entry.make);
  }
  return out;
}

}  // namespace

SessionResult run_kernel(const KernelRun& planned,
                         bool resume,
                         const Plugins& plugins,
                         const Program& program,
                         SessionObserver& observer,
                         const std::stop_token& stop,
                         const std::stop_token& abandon) {
  const auto runner = make_runner(planned, plugins, program);
  const auto prior = make_prior(planned, resume && RunFolder::has_run(planned.folder), plugins);
  const auto substitute = runner->substitute(planned.spec);
  const KernelSpec& searched = substitute ? *substitute : planned.spec;
  MoveWorkers workers(plugins.moves, move_workers_setup(planned.options, program,
                                                        planned.folder / "move_failures.jsonl"));
  RuleProposer rules(moves_that_count(workers.moves(), *runner));
  const MoveTable moves(workers.moves());
  std::vector<LateProposer*> late;
  std::optional<FileProposer> file;
  if (!planned.proposals.empty())
    late.push_back(&file.emplace(planned.teller, planned.proposals,
                                 variant_key(baseline_variant(searched)), moves));
  std::optional<LlmStack> llm;
  if (planned.llm && !planned.only_proposals) {
    llm.emplace(*planned.llm, searched, runner->device(), workers.moves(), planned.options,
                planned.folder);
    late.push_back(&llm->proposer());
  }
  SessionResult result =
      run_session({.spec = planned.spec,
                   .options = planned.options,
                   .runner_text = planned.runner.text(),
                   .runner = *runner,
                   .make_evaluator = runner_pool,
                   .moves = workers.moves(),
                   .proposers = {&rules},
                   .prior = *prior,
                   .late = late,
                   .only_late = planned.only_proposals,
                   .folder = planned.folder,
                   .resume = resume,
                   .environment_json = to_json_text(probe_environment()),
                   .observer = &observer,
                   .findings = [](const Outcome& outcome) { return findings_text(outcome); }},
                  stop, abandon);
  if (result.baseline_ok) ship_best(planned.folder, result);
  if (result.baseline_ok && !result.interrupted) remember_run(planned, plugins, observer);
  if (const std::vector<MoveFailure> failures = workers.failures(); !failures.empty()) {
    const MoveFailure& first = failures.front();
    observer.on_note("moves failed " + std::to_string(failures.size()) +
                     " times and were left out there; the first: " + first.instance.text() + " (" +
                     first.question + "): " + first.reason + "; all of them with their kernels: " +
                     (planned.folder / "move_failures.jsonl").string());
  }
  if (file) {
    for (const std::string& refusal : file->refusals()) observer.on_note(refusal);
  }
  if (llm) {
    llm->write_summary(planned.folder);
    observer.on_note(llm->summary());
  }
  return result;
}

}  // namespace warpath
