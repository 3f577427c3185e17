#include <cstdio>
#include <optional>

#include "engine/base/error.h"
#include "engine/log/run_folder.h"
#include "engine/spec/spec_check_files.h"
#include "experiments/console/interrupt.h"
#include "experiments/console/option_layers.h"
#include "experiments/evaluate/batch.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/evaluate/evaluation_report.h"
#include "experiments/evaluate/evaluation_setup.h"
#include "experiments/setup/candidates.h"
#include "experiments/setup/option_groups.h"
#include "experiments/setup/spec_problems.h"
#include "register_commands.h"

namespace warpath {
namespace {

/// Candidates from lists, sources and combinations of tunables. Without any of these: the spec's
/// own kernel with --repeat, otherwise none, so that only the baseline is measured.
std::vector<Candidate> wanted_candidates(const Arguments& arguments,
                                         const KernelSpec& spec,
                                         std::uint64_t seed) {
  std::vector<Candidate> out = read_candidates(spec, arguments.values("candidates"));
  if (const auto tunables = arguments.value("tunables")) {
    const std::size_t most = *tunables == "all" ? SIZE_MAX : parse_count(*tunables, "--tunables");
    for (Candidate& candidate : tuned_candidates(spec, most, seed))
      out.push_back(std::move(candidate));
  }
  if (out.empty() && arguments.has("repeat"))
    out.push_back({.name = spec.name, .variant = baseline_variant(spec), .expectation = {}});
  return out;
}

int evaluate(const Arguments& arguments, const Program& program) {
  const Options options = apply_layers(default_options(), arguments);
  const Plugins plugins;
  const RunnerChoice choice =
      choose_runner(arguments.value("runner").value_or("auto"), plugins.runners, options);
  show_notice(choice, plugins.runners);
  KernelSpec spec = wanted_spec("warpath evaluate", arguments);
  const auto runner = create_runner(choice, plugins.runners, options, program.path);
  if (auto substitute = runner->substitute(spec))
    spec = std::move(*substitute);
  else if (const std::string problem = run_problem(spec); !problem.empty())
    throw bad_input(spec.origin, problem, "a spec that can be run");
  else
    require_no_problems(spec);
  const Stage stage = parse_stage(arguments.value("stage").value_or("screening"), "--stage");
  const auto repeat =
      static_cast<int>(parse_count(arguments.value("repeat").value_or("1"), "--repeat"));
  const std::vector<Candidate> candidates = wanted_candidates(arguments, spec, options.run.seed);
  std::optional<LineFile> lines;
  if (const auto file = arguments.value("json")) lines.emplace(*file);

  const InterruptWatch interrupts;
  EvaluationProgress progress(spec.name);
  std::vector<std::vector<std::string>> rows;
  const DeviceFacts device = runner->device();
  const EvaluationPlan plan{.spec = spec,
                            .candidates = candidates,
                            .repeat = repeat,
                            .stage = stage,
                            .seed = options.run.seed,
                            .min_speedup = options.run.min_speedup};
  const EvaluationFigures figures = evaluate_candidates(
      plan, *runner,
      [&](const Evaluated& result) {
        const TimeSummary time = time_summary(spec, device, result.outcome);
        if (lines) lines->append(json_line(result, time, stage));
        rows.push_back(evaluation_row(result, time, repeat));
      },
      [&](const EvaluationFigures& now) { progress.show(now); }, interrupts.stop(),
      interrupts.abandon());
  progress.clear();
  if (const auto file = arguments.value("figures"))
    write_file_atomically(*file, figures_text(figures, spec, choice.text(), device, stage), false);
  std::printf("%s", evaluation_table(rows, choice.text()).c_str());
  std::fprintf(stderr, "%s\n", evaluation_line(spec.name, figures, 0, SIZE_MAX).c_str());
  if (figures.interrupted) {
    std::fprintf(stderr, "warpath: stopped after %zu of %zu evaluations\n", figures.finished,
                 figures.planned);
    return static_cast<int>(ErrorCode::environment);
  }
  return figures.unexpected == 0 ? 0 : kNotAsExpected;
}

std::vector<Flag> evaluate_flags() {
  using enum Flag::Takes;
  std::vector<Flag> flags = spec_flags();
  for (Flag flag : std::initializer_list<Flag>{
           {.name = "candidates",
            .value = "FILE.cu|DIR|LIST.jsonl|RUN...",
            .help = "what to evaluate: sources in place of the spec's, folders of them, lists, the "
                    "best "
                    "of a run folder (docs/evaluate.md)",
            .takes = several},
           {.name = "tunables",
            .value = "all|N",
            .help =
                "also the spec's kernel under every valid combination of its tunables, or N drawn "
                "by the seed"},
           {.name = "repeat",
            .value = "N",
            .help = "evaluations of each, with other inputs; without candidates, of the spec's own "
                    "kernel (1)"},
           {.name = "stage",
            .value = "NAME",
            .help = "screening, confirmation or final: how thoroughly (screening)"},
           {.name = "runner", .value = "NAME[:ARG]", .help = "as for `warpath run` (auto)"},
           {.name = "json",
            .value = "FILE",
            .help = "one JSON line an evaluation, the baseline first, written as they finish"},
           {.name = "figures", .value = "FILE", .help = "counts, seconds and rates as JSON"}})
    flags.push_back(std::move(flag));
  for (Flag& flag : option_flags()) flags.push_back(std::move(flag));
  return flags;
}

}  // namespace

void register_command_evaluate(CommandRegistry& registry) {
  registry.push_back(
      {.name = "evaluate",
       .usage = "--input SPEC [--candidates FILE|DIR|LIST...] [FLAGS]",
       .help =
           "compile, check and time given variants of one kernel, without a search; exit code 2 "
           "if any is not as expected",
       .flags = evaluate_flags(),
       .run = evaluate});
}

}  // namespace warpath
