#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/base/error.h"
#include "engine/log/run_folder.h"
#include "engine/plugin/variant_io.h"
#include "engine/run/record.h"
#include "engine/spec/spec_check_files.h"
#include "experiments/build_facts.h"
#include "experiments/console/interrupt.h"
#include "experiments/console/option_layers.h"
#include "experiments/evaluate/batch.h"
#include "experiments/evaluate/evaluation_report.h"
#include "experiments/evaluate/evaluation_setup.h"
#include "experiments/evaluate/ladder.h"
#include "experiments/propose/move_workers.h"
#include "experiments/setup/option_groups.h"
#include "experiments/setup/spec_problems.h"
#include "register_commands.h"
#include "runners/cuda/compile/compile_check.h"
#include "runners/cuda/options.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCompile = "compile";
constexpr const char* kDefaultArch = "sm_90a";

/// What the command line asks for.
struct Request {
  Options options;
  KernelSpec spec;
  std::vector<std::string> patches;
  std::vector<MoveInstance> script;
  std::optional<std::string> each;  ///< "all" or a move
  std::size_t most = SIZE_MAX;      ///< of a move's instances
  Stage stage = Stage::confirmation;
  bool keep_going = false;
  std::optional<std::string> show;  ///< "source" or "diff"
  std::optional<fs::path> outdir, json;
};

Request read_request(const Arguments& arguments) {
  Request out;
  out.options = apply_layers(default_options(), arguments);
  out.spec = wanted_spec("warpath apply", arguments);
  out.patches = arguments.values("patch");
  if (const auto script = arguments.value("moves"))
    out.script = parse_move_script(*script, "--moves");
  out.stage = parse_stage(arguments.value("stage").value_or("confirmation"), "--stage");
  out.keep_going = arguments.has("keep-going");
  out.each = arguments.value("each");
  if (const auto most = arguments.value("most")) out.most = parse_count(*most, "--most", 0);
  out.show = arguments.value("show");
  if (out.show && *out.show != "source" && *out.show != "diff")
    throw bad_input("--show", *out.show, "source or diff");
  if (const auto folder = arguments.value("outdir")) out.outdir = *folder;
  if (const auto file = arguments.value("json")) out.json = *file;
  return out;
}

/// The rung below all steps.
Rung baseline_rung(const KernelSpec& spec) {
  Rung rung;
  rung.step = "baseline";
  rung.variant = baseline_variant(spec);
  return rung;
}

/// Patches first, then moves.
void take_steps(const Request& request,
                const MoveTable& moves,
                const DeviceFacts& device,
                std::vector<Rung>& rungs) {
  patch(request.spec, request.patches, request.keep_going, rungs);
  if (rungs.back().refused() && !request.keep_going) return;
  climb(moves, request.spec, device, request.script, request.keep_going, "--moves", rungs);
  if (!request.each || (rungs.back().refused() && !request.keep_going)) return;
  std::vector<const Move*> tried;
  for (const std::string& name :
       *request.each == "all" ? moves.names() : std::vector<std::string>{*request.each}) {
    tried.push_back(moves.find(name));
    if (tried.back() == nullptr)
      throw bad_input("--each", name, "all or a move; `warpath moves` lists them");
  }
  const std::vector<MoveOffers> offers = try_each(tried, request.spec, device, request.most, rungs);
  std::printf("%s\n", offers_table(offers).c_str());
}

/// What is to be evaluated: every step that was taken. `rung_of`: by candidate.
std::vector<Candidate> candidates_of(const std::vector<Rung>& rungs,
                                     std::vector<std::size_t>& rung_of) {
  std::vector<Candidate> out;
  for (std::size_t i = 1; i < rungs.size(); ++i) {
    if (rungs[i].refused()) continue;
    out.push_back({.name = rungs[i].step, .variant = rungs[i].variant, .expectation = {}});
    rung_of.push_back(i);
  }
  return out;
}

/// Shows and writes rungs as soon as all before them are there.
class Report {
 public:
  Report(const Request& request, std::vector<Rung>& rungs)
      : request_(request), rungs_(rungs), done_(rungs.size(), false) {
    for (std::size_t i = 0; i < rungs.size(); ++i) done_[i] = rungs[i].refused();
  }
  void take(std::size_t rung, Evaluated result, const TimeSummary& time) {
    rungs_[rung].result = std::move(result);
    rungs_[rung].time = time;
    done_[rung] = true;
  }
  /// Rungs that were not reached are left out.
  void finish(const std::string& runner_text, const DeviceFacts& device) {
    std::size_t whole = 0;
    while (whole < rungs_.size() && done_[whole]) ++whole;
    rungs_.resize(whole);
    relate(request_.spec, device, rungs_);
    std::printf("%s on %s\n%s", request_.spec.name.c_str(), device.name.c_str(),
                ladder_table(rungs_, runner_text).c_str());
    if (request_.json) write_lines();
    if (request_.show) show();
    if (request_.outdir) write_folder();
  }

 private:
  [[nodiscard]] std::string diff_of(std::size_t i) const {
    return source_diff(rungs_[i - 1].variant, rungs_[i].variant, "a/" + request_.spec.name,
                       "b/" + request_.spec.name);
  }

  void write_lines() const {
    LineFile lines(*request_.json);
    for (std::size_t i = 0; i < rungs_.size(); ++i)
      lines.append(ladder_json(rungs_[i], i, request_.stage).dump());
  }

  /// The last source, or every step's diff and launch plan.
  void show() const {
    if (*request_.show == "source") {
      for (const Variant* const kernel : kernels_of(rungs_.back().variant)) {
        if (!rungs_.back().variant.versions.empty())
          std::printf("\n// for %s", condition_text(kernel->when).c_str());
        std::printf("\n%s", kernel->source.c_str());
      }
      return;
    }
    for (std::size_t i = 1; i < rungs_.size(); ++i) {
      if (rungs_[i].refused() || rungs_[i].aside) continue;
      std::printf("\n# %zu %s\n%s", i, rungs_[i].step.c_str(), diff_of(i).c_str());
      nlohmann::json rest = to_json(patch_between(rungs_[i - 1].variant, rungs_[i].variant));
      rest.erase("source");
      if (!rest.empty()) std::printf("# beside the source: %s\n", rest.dump().c_str());
    }
  }

  void write_folder() const {
    std::error_code error;
    fs::create_directories(*request_.outdir, error);
    if (error)
      throw environment_error(request_.outdir->string() + ": cannot be made: " + error.message());
    for (std::size_t i = 0; i < rungs_.size(); ++i) {
      if (rungs_[i].refused()) continue;
      if (rungs_[i].aside) continue;
      const std::string stem = (i < 10 ? "0" : "") + std::to_string(i) + "_" +
                               rungs_[i].step.substr(0, rungs_[i].step.find_first_of("@( "));
      const std::vector<const Variant*> kernels = kernels_of(rungs_[i].variant);
      for (std::size_t k = 0; k < kernels.size(); ++k)
        write_file_atomically(*request_.outdir / version_file(stem, k), kernels[k]->source, false);
      nlohmann::json variant = to_json(rungs_[i].variant);
      write_file_atomically(*request_.outdir / (stem + ".json"), variant.dump(2) + "\n", false);
      if (i > 0) write_file_atomically(*request_.outdir / (stem + ".diff"), diff_of(i), false);
    }
    write_file_atomically(*request_.outdir / "ladder.txt", ladder_table(rungs_, ""), false);
  }

  const Request& request_;
  std::vector<Rung>& rungs_;
  std::vector<bool> done_;
};

/// 0 all rungs ok, 2 one is not, 64 a refused step ended the path.
int exit_code(const Request& request, const std::vector<Rung>& rungs) {
  if (rungs.back().refused() && !rungs.back().aside && !request.keep_going) {
    throw bad_input("warpath apply, step " + std::to_string(rungs.size() - 1), rungs.back().step,
                    "a step that applies: " + rungs.back().refusal);
  }
  for (const Rung& rung : rungs) {
    if (rung.refused() || rung.result.outcome.status != Status::ok) return kNotAsExpected;
  }
  return 0;
}

/// Without a device: NVRTC and the gates on text and code.
int check_only(const Request& request,
               const MoveTable& moves,
               const std::string& runner_text,
               const Program& program) {
  if (!kHasCudaHeaders)
    throw environment_error("--runner compile: this program was built without the CUDA headers");
  const std::size_t colon = runner_text.find(':');
  cuda::CompileCheck check(
      request.options.of<CudaOptions>(), program.path,
      colon == std::string::npos ? kDefaultArch : runner_text.substr(colon + 1));
  check.prepare(request.spec);
  std::vector<Rung> rungs{baseline_rung(request.spec)};
  take_steps(request, moves, check.device(), rungs);
  Report report(request, rungs);
  const InterruptWatch interrupts;
  std::vector<std::size_t> rung_of;
  const std::vector<Candidate> candidates = candidates_of(rungs, rung_of);
  report.take(0, {.outcome = check.check(rungs.front().variant, interrupts.stop())}, {});
  for (std::size_t i = 0; i < candidates.size() && !interrupts.stop().stop_requested(); ++i) {
    report.take(rung_of[i],
                {.candidate = &candidates[i],
                 .outcome = check.check(candidates[i].variant, interrupts.stop())},
                {});
  }
  report.finish(runner_text, check.device());
  return exit_code(request, rungs);
}

int evaluate_ladder(Request& request,
                    const MoveTable& moves,
                    const RunnerChoice& choice,
                    const Plugins& plugins,
                    const Program& program) {
  const auto runner = create_runner(choice, plugins.runners, request.options, program.path);
  if (auto substitute = runner->substitute(request.spec)) {
    request.spec = std::move(*substitute);
  } else if (const std::string problem = run_problem(request.spec); !problem.empty()) {
    throw bad_input(request.spec.origin, problem, "a spec that can be run");
  } else {
    require_no_problems(request.spec);
  }
  const DeviceFacts device = runner->device();
  std::vector<Rung> rungs{baseline_rung(request.spec)};
  take_steps(request, moves, device, rungs);
  Report report(request, rungs);
  std::vector<std::size_t> rung_of;
  const std::vector<Candidate> candidates = candidates_of(rungs, rung_of);
  const EvaluationPlan plan{.spec = request.spec,
                            .candidates = candidates,
                            .stage = request.stage,
                            .seed = request.options.run.seed,
                            .min_speedup = request.options.run.min_speedup,
                            .race = request.each.has_value()};
  const InterruptWatch interrupts;
  EvaluationProgress progress(request.spec.name);
  const EvaluationFigures figures = evaluate_candidates(
      plan, *runner,
      [&](const Evaluated& result) {
        const std::size_t rung =
            result.candidate == nullptr
                ? 0
                : rung_of[static_cast<std::size_t>(result.candidate - candidates.data())];
        report.take(rung, result, time_summary(request.spec, device, result.outcome));
      },
      [&](const EvaluationFigures& now) { progress.show(now); }, interrupts.stop(),
      interrupts.abandon());
  progress.clear();
  report.finish(choice.text(), device);
  if (figures.interrupted) {
    std::fprintf(stderr, "warpath: stopped after %zu of %zu rungs\n", figures.finished,
                 figures.planned);
    return static_cast<int>(ErrorCode::environment);
  }
  return exit_code(request, rungs);
}

int apply(const Arguments& arguments, const Program& program) {
  Request request = read_request(arguments);
  const Plugins plugins;
  const MoveWorkers workers(plugins.moves, move_workers_setup(request.options, program));
  const MoveTable moves(workers.moves());
  const std::string runner = arguments.value("runner").value_or("auto");
  if (runner.substr(0, runner.find(':')) == kCompile)
    return check_only(request, moves, runner, program);
  const RunnerChoice choice = choose_runner(runner, plugins.runners, request.options);
  show_notice(choice, plugins.runners);
  return evaluate_ladder(request, moves, choice, plugins, program);
}

std::vector<Flag> apply_flags() {
  using enum Flag::Takes;
  std::vector<Flag> flags = spec_flags();
  for (Flag flag : std::initializer_list<Flag>{
           {.name = "moves",
            .value = "STEPS",
            .help =
                "MOVE[@SITE][(NAME=INTEGER,...)]; ...: what is left out is the move's best guess "
                "(docs/apply.md)"},
           {.name = "patch",
            .value = "FILE...",
            .help =
                "before the moves: a source, SEARCH/REPLACE blocks or a unified diff, a rung each",
            .takes = several},
           {.name = "runner",
            .value = "NAME[:ARG]",
            .help = "as for `warpath run` (auto); compile[:ARCH]: NVRTC and the gates on text and "
                    "code, "
                    "for machines without a GPU"},
           {.name = "stage",
            .value = "NAME",
            .help = "screening, confirmation or final: how thoroughly each rung is judged "
                    "(confirmation)"},
           {.name = "each",
            .value = "MOVE|all",
            .help =
                "at the end of the path try every instance that the move lists there, or that all "
                "moves list, each by itself"},
           {.name = "most",
            .value = "N",
            .help = "--each: at most so many instances of a move (all)"},
           {.name = "keep-going",
            .value = "",
            .help = "after a refused step go on from the rung before it",
            .takes = nothing},
           {.name = "show",
            .value = "source|diff",
            .help = "also print the last rung's source, or every step's diff"},
           {.name = "outdir",
            .value = "DIR",
            .help = "write every rung's source, diff and variant there"},
           {.name = "json", .value = "FILE", .help = "one JSON line a rung, the baseline first"}})
    flags.push_back(std::move(flag));
  for (Flag& flag : option_flags()) flags.push_back(std::move(flag));
  return flags;
}

}  // namespace

void register_command_apply(CommandRegistry& registry) {
  registry.push_back(
      {.name = "apply",
       .usage =
           "--input SPEC [--patch FILE...] [--moves \"MOVE; MOVE@SITE(NAME=INTEGER)\"] [FLAGS]",
       .help = "a scripted path of patches and moves: every step built, verified and timed in turn "
               "with "
               "the baseline, printed as a ladder",
       .flags = apply_flags(),
       .run = apply});
}

}  // namespace warpath
