#include "experiments/study/graph_recorder.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/statistics.h"
#include "engine/plugin/objective.h"
#include "engine/spec/spec_load.h"
#include "experiments/setup/recorded_run.h"
#include "moves/propose/rule_proposer.h"

namespace warpath {
namespace {

/// The parts of a graph before its moves are known.
struct Rows {
  std::vector<RecordedGraph::Node> nodes;
  std::vector<Recording::Row> rows;
  std::map<Hash128, std::uint32_t> by_key;
};

/// Repeated measurements of the objective: those of the only scored workload, scaled so that their
/// median is the recorded time.
std::vector<float> samples_of(const Outcome& outcome,
                              const KernelSpec& spec,
                              const DeviceFacts& device,
                              double time_ns) {
  std::vector<std::string> scored;
  for (const Workload* w : workloads_for(spec, device)) {
    if (w->role == WorkloadRole::score) scored.push_back(w->name);
  }
  if (scored.size() != 1) return {};
  const auto timing = std::ranges::find(outcome.timings, scored.front(), &WorkloadTiming::workload);
  if (timing == outcome.timings.end() || timing->samples_ns.empty()) return {};
  const double factor = time_ns / median(timing->samples_ns);
  std::vector<float> out;
  for (const double sample : timing->samples_ns) out.push_back(static_cast<float>(sample * factor));
  return out;
}

/// What times of `run` are multiplied with to stand beside those of the rows: median over the
/// variants that both have timed. The naive kernel alone would not do: its time may move by a third
/// from run to run where that of others stays.
double common_factor(const RecordedRun& run, const Rows& rows) {
  std::vector<double> ratios;
  for (const RecordedNode& node : run.nodes()) {
    const auto known = rows.by_key.find(node.key);
    if (known == rows.by_key.end() || !node.outcome || node.outcome->status != Status::ok ||
        !(node.speedup > 0))
      continue;
    const double time_ns = rows.rows[known->second].time_ns;
    if (time_ns > 0) ratios.push_back(time_ns * node.speedup / run.baseline_ns());
  }
  return ratios.empty() ? 1 : median(std::move(ratios));
}

void take(const RecordedRun& run, Rows& out) {
  const double factor = common_factor(run, out);
  for (std::size_t i = 0; i < run.nodes().size(); ++i) {
    const RecordedNode& node = run.nodes()[i];
    if (!node.outcome || out.by_key.contains(node.key)) continue;
    Recording::Row row{.status = node.outcome->status,
                       .compile_seconds = node.outcome->compile_seconds,
                       .run_seconds = node.outcome->run_seconds};
    if (row.status == Status::ok && !(node.speedup > 0)) continue;  // nothing to compare by
    if (row.status == Status::ok) {
      row.time_ns = factor * run.baseline_ns() / node.speedup;
      row.samples_ns = samples_of(*node.outcome, run.spec(), run.device(), row.time_ns);
    }
    RecordedGraph::Node kept{.variant = run.variant(i), .key = node.key, .outcome = *node.outcome};
    kept.outcome.verdict = {};
    kept.outcome.log.clear();
    out.by_key.emplace(node.key, static_cast<std::uint32_t>(out.nodes.size()));
    out.nodes.push_back(std::move(kept));
    out.rows.push_back(std::move(row));
  }
}

std::string spec_text(const KernelSpec& spec) {
  return to_json(spec).dump();
}

class Linker {
 public:
  Linker(const KernelSpec& spec, const DeviceFacts& device, const MoveRegistry& moves, Rows& rows)
      : spec_(spec), device_(device), rows_(rows), rules_(moves) {}

  /// The actions of one row: proposals whose variants are rows.
  void link(std::uint32_t row) {
    RecordedGraph::Node& node = rows_.nodes[row];
    if (node.outcome.status != Status::ok) return;
    const MoveContext at{spec_, node.variant, device_};
    Rng rng(1, "propose", mix64(node.key.high) ^ node.key.low);
    for (Proposal& p :
         rules_.propose({.at = at, .node_key = node.key, .outcome = &node.outcome}, rng)) {
      const auto target = rows_.by_key.find(p.made->key);  // a rule has applied its move
      if (target == rows_.by_key.end() || target->second == row) continue;
      node.actions.push_back({.instance = std::move(p.instance),
                              .source = std::move(p.source),
                              .weight = p.weight,
                              .target = target->second});
    }
  }

 private:
  const KernelSpec& spec_;
  const DeviceFacts& device_;
  Rows& rows_;
  RuleProposer rules_;
};

}  // namespace

RecordedGraph record_graph(const std::vector<std::filesystem::path>& folders,
                           const std::string& name,
                           const MoveRegistry& moves,
                           const std::function<void(std::size_t, std::size_t)>& progress,
                           std::stop_token stop) {
  Rows rows;
  std::optional<KernelSpec> spec;
  DeviceFacts device;
  for (const std::filesystem::path& folder : folders) {
    const RecordedRun run(folder);
    if (!spec) {
      spec = run.spec();
      device = run.device();
    }
    if (spec_text(run.spec()) != spec_text(*spec))
      throw bad_input(folder.string(), "a run of another spec", "runs of one spec");
    if (run.device().name != device.name)
      throw bad_input(folder.string(), "a run on " + run.device().name, "runs on " + device.name);
    take(run, rows);
  }
  WARPATH_CHECK(spec.has_value());
  Linker linker(*spec, device, moves, rows);
  std::mutex reporting;
  std::size_t done = 0;
  tbb::parallel_for(std::uint32_t{0}, static_cast<std::uint32_t>(rows.nodes.size()),
                    [&](std::uint32_t i) {
                      if (stop.stop_requested()) return;
                      linker.link(i);
                      const std::lock_guard lock(reporting);
                      progress(++done, rows.nodes.size());
                    });
  if (stop.stop_requested()) throw environment_error("stopped; nothing was written");
  return {
      name.empty() ? spec->name : name, device, *spec, std::move(rows.nodes), std::move(rows.rows),
      folders.front().string()};
}

}  // namespace warpath
