#include "experiments/evaluate/evaluation_report.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/base/statistics.h"
#include "engine/json/json_record.h"
#include "engine/plugin/objective.h"
#include "engine/plugin/outcome_io.h"
#include "experiments/console/status_line.h"
#include "experiments/console/table_text.h"
#include "experiments/setup/runner_choice.h"
#include "priors/evidence/findings.h"

namespace warpath {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxGateText = 120;

json milliseconds(double ns) {
  return number_to_json(ns * 1e-6);
}

const GateResult* first_failure(const Outcome& outcome) {
  const auto failed =
      std::ranges::find(outcome.verdict.gates, GateResult::Answer::fail, &GateResult::answer);
  return failed == outcome.verdict.gates.end() ? nullptr : &*failed;
}

std::string one_line(std::string text, std::size_t most) {
  text = text.substr(0, std::min(text.find('\n'), most));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text;
}

json workload_times(const Outcome& outcome) {
  json out = json::array();
  for (const WorkloadTiming& timing : outcome.timings) {
    const Interval interval = bootstrap_median(timing.samples_ns, kConfidence, kDraws, 1);
    out.push_back({{"workload", timing.workload},
                   {"cache", timing.cache},
                   {"samples", timing.samples_ns.size()},
                   {"median_ms", milliseconds(median(timing.samples_ns))},
                   {"low_ms", milliseconds(interval.low)},
                   {"high_ms", milliseconds(interval.high)}});
  }
  return out;
}

double rate(std::size_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

}  // namespace

std::string failed_gate(const Outcome& outcome) {
  const GateResult* const failure = first_failure(outcome);
  return failure == nullptr ? "" : failure->gate;
}

nlohmann::json evaluation_json(const Evaluated& result, const TimeSummary& time, Stage stage) {
  const Outcome outcome = recordable(result.outcome);
  json out = to_json(outcome);
  out["compile_s"] = out["compile_seconds"];
  out["run_s"] = out["run_seconds"];
  out.erase("compile_seconds");
  out.erase("run_seconds");
  out["baseline"] = result.candidate == nullptr;
  out["name"] = result.candidate == nullptr ? "baseline" : valid_utf8(result.candidate->name);
  out["stage"] = name(stage);
  out["repetition"] = result.repetition;
  out["seed"] = result.seed;
  out["finished_s"] = result.finished_s;
  out["failed_gate"] = valid_utf8(failed_gate(outcome));
  out["as_expected"] = result.expected();
  if (outcome.diagnosis) out["findings"] = findings_json(outcome);
  if (result.candidate != nullptr) {
    const Expectation& expectation = result.candidate->expectation;
    out["expect"] = expectation.status;
    out["row"] = expectation.row;
    out["gates_expected"] = expectation.gates;
    out["by_expected_gate"] = is_expected_gate(expectation, failed_gate(outcome));
    out["tunables"] = result.candidate->variant.tunables;
  }
  if (outcome.status == Status::ok) {
    out["workloads"] = workload_times(outcome);
    out["time_ms"] = milliseconds(time.median_ns);
    out["time_ms_interval"] = {milliseconds(time.interval_ns.low),
                               milliseconds(time.interval_ns.high)};
    out["speedup"] = number_to_json(result.speedup);
    out["speedup_interval"] = {number_to_json(result.speedup_interval.low),
                               number_to_json(result.speedup_interval.high)};
  }
  return out;
}

std::string json_line(const Evaluated& result, const TimeSummary& time, Stage stage) {
  return evaluation_json(result, time, stage).dump();
}

LineFile::LineFile(const std::filesystem::path& path)
    : path_(path),
      fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644)) {
  if (fd_ < 0)
    throw environment_error(path.string() + ": cannot be written: " + std::strerror(errno));
}

LineFile::~LineFile() {
  ::close(fd_);
}

void LineFile::append(std::string line) {
  line += '\n';
  if (::write(fd_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    throw environment_error(path_.string() + ": cannot be written: " + std::strerror(errno));
  }
}

std::string figures_text(const EvaluationFigures& figures,
                         const KernelSpec& spec,
                         const std::string& runner_text,
                         const DeviceFacts& device,
                         Stage stage) {
  json statuses = json::object();
  for (std::size_t i = 0; i < kStatusNames.size(); ++i)
    statuses[std::string(kStatusNames[i])] = figures.by_status[i];
  json runner = json::object();
  for (const auto& [name, value] : figures.runner) runner[name] = number_to_json(value);
  const double whole = figures.prepare_s + figures.baseline_s + figures.candidates_s;
  const json out{{"name", spec.name},
                 {"runner", runner_text},
                 {"device", valid_utf8(device.name)},
                 {"stage", name(stage)},
                 {"candidates", figures.planned},
                 {"finished", figures.finished},
                 {"verified", figures.verified()},
                 {"unexpected", figures.unexpected},
                 {"by_status", std::move(statuses)},
                 {"prepare_s", figures.prepare_s},
                 {"baseline_s", figures.baseline_s},
                 {"candidates_s", figures.candidates_s},
                 {"wall_s", whole},
                 {"verified_per_s", rate(figures.verified(), figures.candidates_s)},
                 {"verified_per_s_with_start", rate(figures.verified(), whole)},
                 {"interrupted", figures.interrupted},
                 {"runner_figures", std::move(runner)}};
  return out.dump(2) + "\n";
}

std::string evaluation_line(const std::string& name,
                            const EvaluationFigures& figures,
                            double seconds,
                            std::size_t width) {
  if (figures.baseline_s <= 0)
    return fitted_line({{name, 0}, {"measuring the baseline, " + duration_text(seconds), 0, " "}},
                       width);
  return tally_line(
      {.name = name,
       .done = static_cast<double>(figures.finished),
       .planned = static_cast<double>(figures.planned),
       .per_second = rate(figures.finished, figures.candidates_s)},
      {{format("%zu ok", figures.verified()), 3},
       {format("%zu refused", figures.finished - figures.verified()), 2},
       {figures.unexpected > 0 ? format("%zu not as expected", figures.unexpected) : "", 0}},
      width);
}

std::vector<std::string> evaluation_row(const Evaluated& result,
                                        const TimeSummary& time,
                                        int repeat) {
  std::string tried = result.candidate == nullptr ? "baseline" : valid_utf8(result.candidate->name);
  if (repeat > 1 && result.candidate != nullptr)
    tried += " #" + std::to_string(result.repetition + 1);
  std::string status(name(result.outcome.status));
  if (!result.expected()) status += " (expected " + result.candidate->expectation.status + ")";
  if (result.outcome.status == Status::ok)
    return {tried, status, time.text(), ratio_text(result.speedup, result.speedup_interval), ""};
  const GateResult* const failure = first_failure(result.outcome);
  const std::string why =
      failure != nullptr ? failure->gate + ": " + failure->detail : result.outcome.log;
  return {tried, status, "-", "-", valid_utf8(one_line(why, kMaxGateText))};
}

std::string evaluation_table(std::vector<std::vector<std::string>> rows,
                             const std::string& runner_text) {
  rows.insert(rows.begin(), {"name", "status", "time ms", "speed-up", "first failing gate"});
  return timing_heading(runner_text) + aligned_text(rows);
}

}  // namespace warpath
