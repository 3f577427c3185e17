#include "experiments/study/study_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "engine/base/compression.h"
#include "engine/base/error.h"

namespace warpath {
namespace {

using nlohmann::json;

constexpr int kDraws = 2000;
constexpr double kConfidence = 0.95;
constexpr std::size_t kCurvePoints = 50;

/// Adds the score at each fiftieth of the budget.
void add_curve(const StudySpace& s, const std::vector<double>& best, std::vector<double>& curve) {
  curve.resize(kCurvePoints);
  for (std::size_t i = 0; i < kCurvePoints; ++i) {
    const std::size_t m = std::max<std::size_t>(1, (i + 1) * s.budget / kCurvePoints);
    const double reached = best.empty() ? s.scale.worst() : best[std::min(best.size(), m) - 1];
    curve[i] += s.score_at(m, reached);
  }
}

/// Median of evaluations to a goal; 0 where half of the runs or more never reached it.
double median_to(std::vector<double> to) {
  for (double& t : to) t = t == 0 ? INFINITY : t;
  const double middle = median(to);
  return std::isfinite(middle) ? middle : 0;
}

void finish_cell(StudyCell& cell,
                 const StudySpace& s,
                 const std::vector<std::vector<double>>& best) {
  if (cell.scores.empty()) return;
  cell.score = mean(cell.scores);
  cell.interval = bootstrap_mean(std::span(&cell.scores, 1), kConfidence, kDraws, 1);
  if (s.start_ns <= 0) cell.published = s.scale.published_score(best, s.budget);
  for (const std::vector<double>& b : best) add_curve(s, b, cell.curve);
  for (double& x : cell.curve) x /= static_cast<double>(best.size());
}

/// Evaluations of a run until its best was at 95 % of the speed of the optimum.
double evaluations_to_95(const StudyRun& run, double optimum) {
  const auto there = std::ranges::find_if(
      run.improvements, [&](const LabRun::Improvement& i) { return i.time_ns * 0.95 <= optimum; });
  return there == run.improvements.end() ? static_cast<double>(run.budget + 1)
                                         : static_cast<double>(there->evaluation);
}

StudyCell cell_of(const StudySpace& s, std::span<const StudyRun> runs) {
  StudyCell cell;
  std::vector<double> to5, to1, hit5, hit1, used, regret, half, clock, ms;
  std::vector<std::vector<double>> best;
  for (const StudyRun& r : runs) {
    cell.scores.push_back(r.score);
    to5.push_back(static_cast<double>(r.to5));
    to1.push_back(static_cast<double>(r.to1));
    hit5.push_back(r.hit5 ? 1 : 0);
    hit1.push_back(r.hit1 ? 1 : 0);
    cell.to95.push_back(evaluations_to_95(r, s.scale.optimum()));
    cell.reached95 += cell.to95.back() <= static_cast<double>(r.budget)
                          ? 1 / static_cast<double>(runs.size())
                          : 0;
    used.push_back(static_cast<double>(r.evaluations) / static_cast<double>(r.budget));
    regret.push_back(r.regret);
    half.push_back(r.regret_half);
    clock.push_back(r.regret_clock);
    ms.push_back(r.tuner_ms);
    best.push_back(r.best_by_evaluation(s.scale.worst()));
  }
  cell.mean95 = mean(cell.to95);
  if (!runs.empty())
    cell.interval95 = bootstrap_mean(std::span(&cell.to95, 1), kConfidence, kDraws, 5);
  cell.to5 = median_to(to5);
  cell.to1 = median_to(to1);
  cell.hit5 = mean(hit5);
  cell.hit1 = mean(hit1);
  cell.used = mean(used);
  cell.regret = mean(regret);
  cell.regret_half = mean(half);
  cell.regret_clock = mean(clock);
  cell.tuner_ms = mean(ms);
  finish_cell(cell, s, best);
  return cell;
}

StudyCell cell_of(const StudySpace& s, const Peer& peer) {
  StudyCell cell;
  std::vector<double> hit5, hit1, regret;
  for (const std::vector<double>& b : peer.best) {
    cell.scores.push_back(s.score(b));
    const double end = b.empty() ? s.scale.worst() : b.back();
    hit5.push_back(end <= 1.05 * s.scale.optimum() ? 1 : 0);
    hit1.push_back(end <= 1.01 * s.scale.optimum() ? 1 : 0);
    regret.push_back(end / s.scale.optimum() - 1);
  }
  cell.hit5 = mean(hit5);
  cell.hit1 = mean(hit1);
  cell.regret = mean(regret);
  cell.used = mean(peer.spent) / static_cast<double>(s.budget);
  finish_cell(cell, s, peer.best);
  return cell;
}

/// Means over the spaces.
void finish_row(StudyRow& row) {
  std::vector<std::vector<double>> groups;
  std::vector<double> score, hit5, hit1, used, published, ms;
  for (const StudyCell& c : row.cells) {
    if (c.scores.empty()) continue;
    groups.push_back(c.scores);
    score.push_back(c.score);
    hit5.push_back(c.hit5);
    hit1.push_back(c.hit1);
    used.push_back(c.used);
    if (std::isfinite(c.published)) published.push_back(c.published);
    ms.push_back(c.tuner_ms);
  }
  row.whole = groups.size() == row.cells.size();
  if (groups.empty()) return;
  row.score = mean(score);
  row.interval = bootstrap_mean(groups, kConfidence, kDraws, 2);
  row.hit5 = mean(hit5);
  row.hit1 = mean(hit1);
  row.used = mean(used);
  if (!published.empty()) row.published = mean(published);
  row.tuner_ms = mean(ms);
}

/// Reference minus row, by space and seed (peers: against the reference's mean).
std::vector<std::vector<double>> differences(const StudyRow& reference, const StudyRow& row) {
  std::vector<std::vector<double>> out;
  for (std::size_t s = 0; s < row.cells.size(); ++s) {
    const std::vector<double>& a = reference.cells[s].scores;
    const std::vector<double>& b = row.cells[s].scores;
    if (a.empty() || b.empty()) continue;
    std::vector<double>& d = out.emplace_back();
    for (std::size_t i = 0; i < b.size() && (row.peer || i < a.size()); ++i)
      d.push_back((row.peer ? reference.cells[s].score : a[i]) - b[i]);
  }
  return out;
}

void compare95(const StudyRow& reference, StudyRow& row) {
  std::vector<std::vector<double>> logs;
  std::vector<double> means;
  for (std::size_t s = 0; s < row.cells.size(); ++s) {
    const std::vector<double>& a = reference.cells[s].to95;
    const std::vector<double>& b = row.cells[s].to95;
    if (a.empty() || b.empty()) continue;
    std::vector<double>& group = logs.emplace_back();
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      group.push_back(std::log(b[i] / a[i]));
    means.push_back(mean(group));
  }
  if (logs.empty()) return;
  const Interval interval = bootstrap_mean(logs, kConfidence, kDraws, 6);
  row.ratio95 = std::exp(mean(means));
  row.ratio95_interval = exponential(interval);
}

void compare(std::vector<StudyRow>& rows) {
  std::vector<double> p;
  std::vector<std::size_t> tested;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto d = differences(rows.front(), rows[i]);
    if (d.empty()) continue;
    std::vector<double> means;
    for (const auto& g : d) means.push_back(mean(g));
    rows[i].difference = mean(means);
    rows[i].difference_interval = bootstrap_mean(d, kConfidence, kDraws, 3);
    if (rows[i].peer) continue;
    compare95(rows.front(), rows[i]);
    tested.push_back(i);
    p.push_back(sign_flip_p(d, kDraws, 4));
  }
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < tested.size(); ++i) rows[tested[i]].p = adjusted[i];
}

void rank(std::vector<StudyRow>& rows, std::size_t spaces) {
  std::size_t counted = 0;
  for (std::size_t s = 0; s < spaces; ++s) {
    std::size_t seeds = SIZE_MAX;
    for (const StudyRow& r : rows) seeds = std::min(seeds, r.cells[s].scores.size());
    for (std::size_t k = 0; k < seeds; ++k, ++counted) {
      for (StudyRow& r : rows) {
        double place = 1;
        for (const StudyRow& other : rows) {
          const double d = other.cells[s].scores[k] - r.cells[s].scores[k];
          place += d > 0 ? 1 : (d == 0 && &other != &r ? 0.5 : 0);
        }
        r.rank += place;
      }
    }
  }
  for (StudyRow& r : rows) r.rank /= static_cast<double>(std::max<std::size_t>(1, counted));
}

}  // namespace

std::vector<Peer> read_peers(const std::vector<std::string>& folders,
                             const std::vector<StudySpace>& spaces) {
  std::map<std::pair<std::string, std::string>, Peer> found;
  for (const std::string& folder : folders) {
    if (!std::filesystem::is_directory(folder)) continue;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
      std::istringstream in(read_maybe_gzip(file, "the rows of a study"));
      std::string text;
      for (std::size_t n = 1; std::getline(in, text); ++n) {
        const json line = json::parse(text, nullptr, false);
        const std::string place = file.string() + ":" + std::to_string(n);
        if (!line.is_object() || !line.contains("space") || !line.contains("strategy") ||
            !line.contains("events")) {
          throw bad_input(place, text.substr(0, 60), "a run with space, strategy and events");
        }
        const std::string name = line["space"];
        const auto s = std::find_if(spaces.begin(), spaces.end(), [&](const StudySpace& x) {
          return x.recording->name() == name;
        });
        if (s == spaces.end()) continue;
        Peer& peer = found[{line["strategy"], name}];
        peer.name = line["strategy"];
        peer.space = name;
        std::vector<double>& best = peer.best.emplace_back();
        for (const json& event : line["events"]) {
          const auto evaluation = event.at(0).get<std::size_t>();
          if (evaluation < 1 || evaluation > s->budget) continue;
          const double before = best.empty() ? s->scale.worst() : best.back();
          best.resize(evaluation, before);
          best.back() = event.at(2).get<double>() * 1e6;
        }
        peer.spent.push_back(line.value("nfe", 0.0));
      }
    }
  }
  std::vector<Peer> out;
  for (auto& [key, peer] : found) out.push_back(std::move(peer));
  return out;
}

double fitness_flow_ease(const Recording& recording) {
  const auto& rows = recording.rows();
  std::vector<double> time(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    time[i] = rows[i].status == Status::ok ? rows[i].time_ns : INFINITY;
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return time[a] > time[b]; });
  // Edges lead from slow to fast only: one pass, slowest first, carries all mass to the local
  // optima.
  std::vector<double> mass(rows.size(), 1.0 / static_cast<double>(rows.size()));
  double good = 0;
  std::vector<std::uint32_t> better;
  for (const std::uint32_t i : order) {
    better.clear();
    recording.neighbours(i, better);
    std::erase_if(better, [&](std::uint32_t j) { return !(time[j] < time[i]); });
    for (const std::uint32_t j : better) mass[j] += mass[i] / static_cast<double>(better.size());
    if (better.empty() && time[i] <= 1.05 * recording.best_ns()) good += mass[i];
  }
  return good;
}

StudyTable tabulate(const Study& study,
                    const std::vector<StudySpace>& spaces,
                    const std::vector<StudyRun>& runs,
                    const std::vector<Peer>& peers) {
  StudyTable table;
  for (const StudySpace& s : spaces) {
    table.spaces.push_back(s.recording->name());
    table.budgets.push_back(s.budget);
    (s.start_ns > 0 ? table.graphs : table.points) += 1;
    table.ease.push_back(fitness_flow_ease(*s.recording));
  }
  for (std::size_t i = 0; i < study.settings.size(); ++i) {
    StudyRow row;
    row.label = study.settings[i].label;
    for (const StudySpace& s : spaces) {
      std::vector<StudyRun> mine;
      for (const StudyRun& r : runs) {
        if (r.setting == i && r.space == s.recording->name()) mine.push_back(r);
      }
      row.cells.push_back(cell_of(s, mine));
    }
    finish_row(row);
    table.rows.push_back(std::move(row));
  }
  rank(table.rows, spaces.size());
  std::map<std::string, StudyRow> by_name;
  for (const Peer& peer : peers) {
    StudyRow& row = by_name[peer.name];
    row.label = peer.name;
    row.peer = true;
    row.cells.resize(spaces.size());
    for (std::size_t s = 0; s < spaces.size(); ++s) {
      if (spaces[s].recording->name() == peer.space) row.cells[s] = cell_of(spaces[s], peer);
    }
  }
  std::vector<StudyRow> others;
  for (auto& [name, row] : by_name) {
    finish_row(row);
    others.push_back(std::move(row));
  }
  std::stable_sort(others.begin(), others.end(),
                   [](const StudyRow& a, const StudyRow& b) { return a.score > b.score; });
  for (StudyRow& row : others) table.rows.push_back(std::move(row));
  compare(table.rows);
  return table;
}

}  // namespace warpath
