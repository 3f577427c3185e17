#include "experiments/study/study_runs.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/log/run_folder.h"
#include "experiments/setup/prior_files.h"
#include "runners/replay/recorded_graph.h"
#include "runners/replay/virtual_lab.h"

namespace warpath {
namespace {

constexpr std::string_view kHeader =
    "setting,label,space,seed,budget,evaluations,failed,unchanged,score,hit5,hit1,to5,to1,regret_"
    "half,regret,"
    "regret_clock,best_ns,"
    "virtual_seconds,improvements,tuner_ms";
constexpr std::size_t kColumns = 20;

struct Task {
  std::size_t setting = 0;
  std::size_t space = 0;
  std::uint64_t seed = 0;
};

std::string number(double x) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, x).ptr;
  return {text, end};
}

double parse_number(std::string_view text) {
  double x = 0;
  std::from_chars(text.data(), text.data() + text.size(), x);
  return x;
}

std::uint64_t cell_count(std::string_view text) {
  std::uint64_t x = 0;
  std::from_chars(text.data(), text.data() + text.size(), x);
  return x;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  for (;;) {
    const auto end = text.find(at);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

/// A label as a cell of a file whose cells are split at every comma.
std::string in_one_cell(std::string label) {
  std::ranges::replace(label, ',', ';');
  return label;
}

std::string line(const StudyRun& run, const std::string& label) {
  std::string improvements;
  for (const LabRun::Improvement& i : run.improvements) {
    improvements += (improvements.empty() ? "" : ";") + std::to_string(i.evaluation) + ":" +
                    number(i.at_seconds) + ":" + number(i.time_ns);
  }
  std::ostringstream out;
  out << run.setting << ',' << in_one_cell(label) << ',' << run.space << ',' << run.seed << ','
      << run.budget << ',' << run.evaluations << ',' << run.failed << ',' << run.unchanged << ','
      << number(run.score) << ',' << run.hit5 << ',' << run.hit1 << ',' << run.to5 << ',' << run.to1
      << ',' << number(run.regret_half) << ',' << number(run.regret) << ','
      << number(run.regret_clock) << ',' << number(run.best_ns) << ','
      << number(run.virtual_seconds) << ',' << improvements << ',' << number(run.tuner_ms) << '\n';
  return std::move(out).str();
}

StudyRun parse_line(std::string_view text, const std::string& place) {
  const auto cell = split(text, ',');
  if (cell.size() != kColumns)
    throw bad_input(place, std::to_string(cell.size()) + " cells", std::to_string(kColumns));
  StudyRun run;
  run.setting = cell_count(cell[0]);
  run.space = cell[2];
  run.seed = cell_count(cell[3]);
  run.budget = cell_count(cell[4]);
  run.evaluations = cell_count(cell[5]);
  run.failed = cell_count(cell[6]);
  run.unchanged = cell_count(cell[7]);
  run.score = parse_number(cell[8]);
  run.hit5 = cell[9] == "1";
  run.hit1 = cell[10] == "1";
  run.to5 = cell_count(cell[11]);
  run.to1 = cell_count(cell[12]);
  run.regret_half = parse_number(cell[13]);
  run.regret = parse_number(cell[14]);
  run.regret_clock = parse_number(cell[15]);
  run.best_ns = parse_number(cell[16]);
  run.virtual_seconds = parse_number(cell[17]);
  for (const std::string_view part : split(cell[18], ';')) {
    const auto field = split(part, ':');
    if (field.size() == 3)
      run.improvements.push_back({.evaluation = cell_count(field[0]),
                                  .at_seconds = parse_number(field[1]),
                                  .time_ns = parse_number(field[2]),
                                  .low_ns = 0});
  }
  run.tuner_ms = parse_number(cell[19]);
  return run;
}

/// Whole lines after the header.
std::vector<std::string> whole_lines(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  std::vector<std::string> out;
  const std::string all = std::move(text).str();
  const auto parts = split(all, '\n');
  // what follows the last line feed is torn
  for (std::size_t i = 1; i + 1 < parts.size(); ++i) out.emplace_back(parts[i]);
  return out;
}

/// For a graph, the name of its spec: graphs of one kernel on several devices share the model
/// trained without that kernel.
std::string kernel_of(const Recording& recording) {
  const auto* const graph = dynamic_cast<const RecordedGraph*>(&recording);
  return graph != nullptr ? graph->spec().name : recording.name();
}

StudyRun carry_out_one(const Study& study,
                       const StudySpace& s,
                       const PriorRegistry& priors,
                       const std::set<std::string, std::less<>>& structural,
                       const Task& task) {
  const LabSettings lab{
      .seed = task.seed, .budget = s.budget, .devices = study.devices, .served = study.served};
  const Options& options = study.settings[task.setting].options;
  const auto prior = priors.create("run.prior", options.run.prior,
                                   study_prior_config(options, kernel_of(*s.recording)));
  LabRun done = run_lab(*s.recording, options, lab,
                        {.prior = prior.get(),
                         .without = move_names(options.run.without_moves),
                         .structural = structural});
  const double optimum = s.scale.optimum();
  const std::vector<double> best = done.best_by_evaluation(s.scale.worst());
  StudyRun run;
  run.setting = task.setting;
  run.space = s.recording->name();
  run.seed = task.seed;
  run.budget = s.budget;
  run.evaluations = done.evaluations;
  run.failed = done.failed;
  run.unchanged = done.unchanged;
  run.score = s.score(best);
  for (const LabRun::Improvement& i : done.improvements) {
    if (run.to5 == 0 && i.low_ns <= 1.05 * optimum) run.to5 = i.evaluation;
    if (run.to1 == 0 && i.low_ns <= 1.01 * optimum) run.to1 = i.evaluation;
  }
  const bool ran = done.reported_ns > 0;
  run.hit5 = ran && done.reported_low_ns <= 1.05 * optimum;
  run.hit1 = ran && done.reported_low_ns <= 1.01 * optimum;
  const auto regret = [&](double time) { return time / optimum - 1; };
  run.best_ns = ran ? done.reported_ns : s.scale.worst();
  run.regret = regret(run.best_ns);
  run.regret_half = regret(
      best.empty() ? run.best_ns
                   : best[std::min(best.size(), static_cast<std::size_t>(s.budget + 1) / 2) - 1]);
  const double clock = s.mean_cost_seconds * static_cast<double>(s.budget) / study.devices;
  double by_clock = s.scale.worst();
  for (const LabRun::Improvement& i : done.improvements)
    by_clock = i.at_seconds <= clock ? i.time_ns : by_clock;
  run.regret_clock = regret(by_clock);
  run.virtual_seconds = done.virtual_seconds;
  run.improvements = std::move(done.improvements);
  run.tuner_ms =
      done.tuner_seconds * 1e3 / static_cast<double>(std::max<std::uint64_t>(1, done.evaluations));
  return run;
}

void refuse_other_study(const Study& study, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "study.json";
  if (!std::filesystem::exists(file)) return write_file_atomically(file, study.text + "\n");
  if (read_text_file(file.string(), kMaxJsonBytes, file.string()) != study.text + "\n") {
    throw bad_input(file.string(), "another study",
                    "the study that the folder was made with, or another --outdir");
  }
}

}  // namespace

std::vector<double> StudyRun::best_by_evaluation(double worst) const {
  LabRun run;
  run.evaluations = evaluations;
  run.improvements = improvements;
  return run.best_by_evaluation(worst);
}

Shard parse_shard(const std::string& text) {
  const auto parts = split(text, '/');
  Shard shard;
  if (parts.size() == 2) shard = {cell_count(parts[0]), cell_count(parts[1])};
  if (parts.size() != 2 || shard.index < 1 || shard.index > shard.count)
    throw bad_input("--shard", text, "I/N with 1 <= I <= N");
  return shard;
}

bool carry_out(const Study& study,
               const std::vector<StudySpace>& spaces,
               const PriorRegistry& priors,
               const MoveRegistry& moves,
               const std::filesystem::path& folder,
               Shard shard,
               int threads,
               const std::function<void(std::size_t, std::size_t)>& progress,
               const std::stop_token& stop) {
  std::filesystem::create_directories(folder);
  refuse_other_study(study, folder);
  std::set<std::tuple<std::size_t, std::string, std::uint64_t>> known;
  for (const StudyRun& run : read_runs(folder)) known.emplace(run.setting, run.space, run.seed);

  std::set<std::string, std::less<>> structural;
  for (const auto& [name, entry] : moves.entries()) {
    if (entry.make()->structural()) structural.insert(name);
  }

  std::vector<Task> tasks;
  std::size_t planned = 0, place = 0;
  for (std::size_t s = 0; s < spaces.size(); ++s) {
    for (std::uint64_t k = 0; k < study.seeds; ++k) {
      for (std::size_t setting = 0; setting < study.settings.size(); ++setting) {
        if (place++ % shard.count != shard.index - 1) continue;
        ++planned;
        const Task task{setting, s, study.first_seed + k};
        if (!known.contains({setting, spaces[s].recording->name(), task.seed}))
          tasks.push_back(task);
      }
    }
  }

  const std::filesystem::path file =
      folder / (shard.count == 1 ? "runs.csv"
                                 : "runs-" + std::to_string(shard.index) + "-of-" +
                                       std::to_string(shard.count) + ".csv");
  std::string kept(kHeader);
  kept += '\n';
  for (const std::string& row :
       std::filesystem::exists(file) ? whole_lines(file) : std::vector<std::string>{})
    kept += row + '\n';
  write_file_atomically(file, kept);
  std::ofstream out(file, std::ios::binary | std::ios::app);

  constexpr std::size_t kBatch = 64;
  tbb::task_arena arena(threads > 0 ? threads : tbb::task_arena::automatic);
  for (std::size_t at = 0; at < tasks.size(); at += kBatch) {
    if (stop.stop_requested()) return false;
    const std::size_t end = std::min(tasks.size(), at + kBatch);
    std::vector<StudyRun> batch(end - at);
    arena.execute([&] {
      tbb::parallel_for(at, end, [&](std::size_t i) {
        batch[i - at] = carry_out_one(study, spaces[tasks[i].space], priors, structural, tasks[i]);
      });
    });
    for (const StudyRun& run : batch) out << line(run, study.settings[run.setting].label);
    if (!out.flush()) throw environment_error(file.string() + ": cannot be written");
    progress(planned - tasks.size() + end, planned);
  }
  return true;
}

std::vector<StudyRun> read_runs(const std::filesystem::path& folder) {
  std::vector<StudyRun> runs;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("runs") || !name.ends_with(".csv")) continue;
    std::size_t n = 1;
    for (const std::string& text : whole_lines(entry.path()))
      runs.push_back(parse_line(text, entry.path().string() + ":" + std::to_string(++n)));
  }
  std::sort(runs.begin(), runs.end(), [](const StudyRun& a, const StudyRun& b) {
    return std::tie(a.setting, a.space, a.seed) < std::tie(b.setting, b.space, b.seed);
  });
  const auto same = [](const StudyRun& a, const StudyRun& b) {
    return std::tie(a.setting, a.space, a.seed) == std::tie(b.setting, b.space, b.seed);
  };
  runs.erase(std::unique(runs.begin(), runs.end(), same), runs.end());
  return runs;
}

}  // namespace warpath
