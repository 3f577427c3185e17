#include <fnmatch.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include "engine/error.h"
#include "engine/run_folder.h"
#include "engine/spec_check.h"
#include "engine/spec_load.h"
#include "experiments/batch.h"
#include "experiments/candidates.h"
#include "experiments/command.h"
#include "experiments/evaluation.h"
#include "experiments/evaluation_report.h"
#include "experiments/interrupt.h"
#include "experiments/option_layers.h"

namespace warpath {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNotAsExpected = 2;

/// The one spec that `--input` and `--name` ask for.
KernelSpec wanted_spec(const Arguments& arguments) {
  if (arguments.values("input").empty()) throw bad_input("warpath evaluate", "", "--input SPEC");
  std::vector<KernelSpec> specs = load_specs(arguments.values("input"));
  std::string names;
  for (const KernelSpec& spec : specs) names += (names.empty() ? "" : ", ") + spec.name;
  const std::string pattern = arguments.value("name").value_or("*");
  std::erase_if(specs, [&](const KernelSpec& spec) { return fnmatch(pattern.c_str(), spec.name.c_str(), 0) != 0; });
  if (specs.size() != 1) throw bad_input("--name", arguments.value("name").value_or(""), "exactly one of " + names);
  return std::move(specs.front());
}

/// A whole number of at least 1.
std::size_t count(const std::string& flag, const std::string& text) {
  std::size_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 1 || out > 1'000'000) {
    throw bad_input("--" + flag, text, flag == "tunables" ? "all or a number from 1 to 1000000" : "a number from 1 to 1000000");
  }
  return out;
}

Stage parse_stage(const std::string& text) {
  const auto it = std::ranges::find(kStageNames, text);
  if (it == kStageNames.end()) throw bad_input("--stage", text, "screening, confirmation or final");
  return static_cast<Stage>(it - kStageNames.begin());
}

/// Lists, sources, combinations of tunables; with none of them but --repeat, the spec's own kernel; else only the baseline is measured.
std::vector<Candidate> wanted_candidates(const Arguments& arguments, const KernelSpec& spec, std::uint64_t seed) {
  std::vector<Candidate> out = read_candidates(spec, arguments.values("candidates"));
  if (const auto tunables = arguments.value("tunables")) {
    const std::size_t most = *tunables == "all" ? SIZE_MAX : count("tunables", *tunables);
    for (Candidate& candidate : tuned_candidates(spec, most, seed)) out.push_back(std::move(candidate));
  }
  if (out.empty() && arguments.has("repeat")) out.push_back({.name = spec.name, .variant = baseline_variant(spec), .expectation = {}});
  return out;
}

/// The state on stderr: on a terminal one line that is drawn anew, elsewhere plain lines, few.
class Progress {
 public:
  explicit Progress(std::string name) : name_(std::move(name)), terminal_(isatty(STDERR_FILENO) == 1) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const EvaluationFigures& figures) {
    const auto now = Clock::now();
    if (now - last_ < (terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(10'000))) return;
    last_ = now;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n", evaluation_line(name_, figures, seconds, width()).c_str());
    std::fflush(stderr);
    drawn_ = terminal_;
  }
  void clear() {
    if (drawn_) std::fputs("\r\033[K", stderr);
    drawn_ = false;
  }

 private:
  [[nodiscard]] std::size_t width() const {
    winsize size{};
    if (!terminal_) return SIZE_MAX;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20 ? 80 : size.ws_col - 1U;
  }

  std::string name_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
};

int evaluate(const Arguments& arguments, const Program& program) {
  const Options options = apply_layers({}, arguments);
  const Plugins plugins;
  const RunnerChoice choice = choose_runner(arguments.value("runner").value_or("auto"), plugins.runners, options.cuda);
  KernelSpec spec = wanted_spec(arguments);
  const auto runner = plugins.runners.create("--runner", choice.name,
                                             RunnerConfig{.argument = choice.argument,
                                                          .seed = options.run.seed,
                                                          .options = &options,
                                                          .program = program.path});
  if (auto substitute = runner->substitute(spec)) spec = std::move(*substitute);
  else if (const std::string problem = run_problem(spec); !problem.empty()) throw bad_input(spec.origin, problem, "a spec that can be run");
  const Stage stage = parse_stage(arguments.value("stage").value_or("screening"));
  const auto repeat = static_cast<int>(count("repeat", arguments.value("repeat").value_or("1")));
  const std::vector<Candidate> candidates = wanted_candidates(arguments, spec, options.run.seed);
  std::optional<LineFile> lines;
  if (const auto file = arguments.value("json")) lines.emplace(*file);

  const InterruptWatch interrupts;
  Progress progress(spec.name);
  std::vector<EvaluationRow> rows;
  const DeviceFacts device = runner->device();
  const EvaluationPlan plan{.spec = spec, .candidates = candidates, .repeat = repeat, .stage = stage, .seed = options.run.seed, .min_speedup = options.run.min_speedup};
  const EvaluationFigures figures = evaluate_candidates(
      plan, *runner,
      [&](const Evaluated& result) {
        const TimeSummary time = time_summary(spec, device, result.outcome);
        if (lines) lines->append(json_line(result, time, stage));
        rows.push_back(evaluation_row(result, time, repeat));
      },
      [&](const EvaluationFigures& now) { progress.show(now); }, interrupts.stop(), interrupts.abandon());
  progress.clear();
  if (const auto file = arguments.value("figures")) write_file_atomically(*file, figures_text(figures, spec, choice.text(), device, stage), false);
  std::printf("%s", evaluation_table(rows, choice.text()).c_str());
  std::fprintf(stderr, "%s\n", evaluation_line(spec.name, figures, 0, SIZE_MAX).c_str());
  if (figures.interrupted) {
    std::fprintf(stderr, "warpath: stopped after %zu of %zu evaluations\n", figures.finished, figures.planned);
    return static_cast<int>(ErrorCode::environment);
  }
  return figures.unexpected == 0 ? 0 : kNotAsExpected;
}

std::vector<Flag> evaluate_flags() {
  using enum Flag::Takes;
  std::vector<Flag> flags{
      {.name = "input", .value = "SPEC|DIR...", .help = "the kernel spec; --name picks one of many", .takes = several},
      {.name = "name", .value = "PATTERN", .help = "the spec of this name; * and ? stand for any text"},
      {.name = "candidates",
       .value = "FILE.cu|DIR|LIST.jsonl...",
       .help = "what to evaluate: sources in place of the spec's, folders of them, lists (docs/evaluate.md)",
       .takes = several},
      {.name = "tunables", .value = "all|N", .help = "also the spec's kernel under every valid combination of its tunables, or N drawn by the seed"},
      {.name = "repeat", .value = "N", .help = "evaluations of each, with other inputs; without candidates, of the spec's own kernel (1)"},
      {.name = "stage", .value = "NAME", .help = "screening, confirmation or final: how thoroughly (screening)"},
      {.name = "runner", .value = "NAME[:ARG]", .help = "as for `warpath run` (auto)"},
      {.name = "json", .value = "FILE", .help = "one JSON line an evaluation, the baseline first, written as they finish"},
      {.name = "figures", .value = "FILE", .help = "counts, seconds and rates as JSON"}};
  for (Flag& flag : option_flags()) flags.push_back(std::move(flag));
  return flags;
}

}  // namespace

Command evaluate_command() {
  return {.name = "evaluate",
          .usage = "--input SPEC [--candidates FILE|DIR|LIST...] [FLAGS]",
          .help = "compile, check and time given variants of one kernel, without a search; exit code 2 if any is not as expected",
          .flags = evaluate_flags(),
          .run = evaluate};
}

}  // namespace warpath
