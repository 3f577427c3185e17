#include "experiments/evaluate/ladder.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "engine/plugin/objective.h"
#include "experiments/console/command_line.h"
#include "experiments/console/table_text.h"
#include "experiments/evaluate/evaluation_report.h"
#include "experiments/setup/runner_choice.h"
#include "moves/patch/patch.h"

namespace warpath {
namespace {

std::string whole_text(double x) {
  return format("%.0f", x);
}

/// A fact of the diagnosis; "-" without one.
std::string fact(const Outcome& outcome,
                 const char* name,
                 std::string (*text)(double) = whole_text) {
  if (!outcome.diagnosis) return "-";
  const auto it = outcome.diagnosis->facts.find(name);
  return it == outcome.diagnosis->facts.end() ? "-" : text(it->second.value);
}

std::string verdict(const Rung& rung) {
  if (rung.refused()) return "refused: " + rung.refusal;
  const Outcome& outcome = rung.result.outcome;
  if (outcome.status == Status::ok) return outcome.verdict.summary();
  const std::string gate = failed_gate(outcome);
  const std::string reason = outcome.log.substr(0, outcome.log.find('\n'));
  return std::string(name(outcome.status)) + (gate.empty() ? "" : " by " + gate) +
         (reason.empty() ? "" : ": " + reason);
}

std::vector<std::string> timed_cells(const Rung& rung) {
  if (rung.refused() || rung.result.outcome.status != Status::ok) return {"-", "-", "-", "-"};
  return {rung.time.text(), ratio_text(rung.result.speedup), ratio_text(rung.over_previous),
          rung.bound_fraction > 0 ? percent_text(rung.bound_fraction, 1) : "-"};
}

std::vector<std::string> static_cells(const Rung& rung) {
  const Outcome& outcome = rung.result.outcome;
  if (rung.refused() || outcome.status != Status::ok) return {"-", "-", "-", "-", "-"};
  return {fact(outcome, "registers_per_thread"), fact(outcome, "local_bytes"),
          fact(outcome, "static_smem_bytes") + "+" + fact(outcome, "dynamic_smem_bytes"),
          fact(outcome, "threads_per_block"),
          fact(outcome, "occupancy", [](double x) { return percent_text(x); })};
}

/// The most binding resource, as the runner reports it for the first scored workload.
double least_time_ns(const Outcome& outcome) {
  double least = 0;
  if (!outcome.diagnosis) return least;
  for (const auto& [resource, bound] : outcome.diagnosis->time_bound_ns)
    least = std::max(least, bound.value);
  return least;
}

}  // namespace

void patch(const KernelSpec& spec,
           const std::vector<std::string>& files,
           bool keep_going,
           std::vector<Rung>& rungs) {
  for (const std::string& file : files) {
    Rung rung;
    rung.step = "patch " + file;
    rung.variant = rungs.back().variant;
    std::optional<std::string> source = apply_patch(
        rung.variant.source, read_text_file(file, kMaxPatchBytes, "--patch " + file), rung.refusal);
    if (source) {
      rung.refusal.clear();
      rung.variant.source = std::move(*source);
      if (!satisfies_constraints(spec, rung.variant, rung.refusal))
        rung.variant = rungs.back().variant;
    }
    const bool refused = rung.refused();
    rungs.push_back(std::move(rung));
    if (refused && !keep_going) return;
  }
}

void climb(const MoveTable& moves,
           const KernelSpec& spec,
           const DeviceFacts& device,
           const std::vector<MoveInstance>& script,
           bool keep_going,
           std::string_view place,
           std::vector<Rung>& rungs) {
  std::vector<const Move*> found;
  for (const MoveInstance& wanted : script) {
    found.push_back(moves.find(wanted.move));
    if (found.back() != nullptr) continue;
    const std::string near = nearest(wanted.move, moves.names());
    throw bad_input(
        place, wanted.move,
        near.empty() ? "a move; `warpath moves` lists them" : "a move; did you mean " + near + "?");
  }
  for (std::size_t i = 0; i < script.size(); ++i) {
    Rung rung;
    rung.variant = rungs.back().variant;
    const MoveContext context{.spec = spec, .variant = rung.variant, .device = device};
    if (auto step = apply_step(*found[i], context, script[i], rung.refusal)) {
      rung.step = step->instance.text();
      rung.refusal.clear();
      rung.variant = std::move(step->variant);
    } else {
      rung.step = script[i].text();
      if (rung.refusal.empty()) rung.refusal = "it does not apply";
    }
    const bool refused = rung.refused();
    rungs.push_back(std::move(rung));
    if (refused && !keep_going) return;
  }
}

std::vector<MoveOffers> try_each(const std::vector<const Move*>& tried,
                                 const KernelSpec& spec,
                                 const DeviceFacts& device,
                                 std::size_t most,
                                 std::vector<Rung>& rungs) {
  std::vector<MoveOffers> out;
  const Variant base = rungs.back().variant;
  const MoveContext context{.spec = spec, .variant = base, .device = device};
  for (const Move* const move : tried) {
    std::vector<MoveInstance> listed = move->enumerate(context);
    MoveOffers& offers = out.emplace_back(MoveOffers{.move = std::string(move->name())});
    offers.instances = listed.size();
    for (const MoveInstance& instance : listed) {
      if (std::ranges::find(offers.sites, instance.site) == offers.sites.end())
        offers.sites.push_back(instance.site);
    }
    if (listed.empty())
      static_cast<void>(apply_step(*move, context, {offers.move, "", {}}, offers.refusal));
    listed.resize(std::min(listed.size(), most));
    for (const MoveInstance& instance : listed) {
      Rung rung;
      rung.step = instance.text();
      rung.aside = true;
      rung.variant = base;
      std::optional<Variant> next = move->apply(context, instance, rung.refusal);
      // the search would not take it either
      if (next && !satisfies_constraints(spec, *next, rung.refusal)) continue;
      if (next) {
        rung.variant = std::move(*next);
        rung.refusal.clear();
      } else if (rung.refusal.empty()) {
        rung.refusal = "it does not apply";
      }
      rungs.push_back(std::move(rung));
    }
  }
  return out;
}

std::string offers_table(const std::vector<MoveOffers>& offers) {
  constexpr std::size_t kMostSites = 4;
  std::vector<std::vector<std::string>> rows{
      {"move", "instances", "sites, or why it does not apply"}};
  for (const MoveOffers& one : offers) {
    std::string text = one.refusal;
    for (std::size_t i = 0; i < std::min(one.sites.size(), kMostSites); ++i)
      text += (i > 0 ? " " : "") + one.sites[i];
    if (one.sites.size() > kMostSites)
      text += " and " + std::to_string(one.sites.size() - kMostSites) + " more";
    rows.push_back({one.move, std::to_string(one.instances), valid_utf8(text)});
  }
  return aligned_text(rows);
}

void relate(const KernelSpec& spec, const DeviceFacts& device, std::vector<Rung>& rungs) {
  std::string scored;
  for (const Workload* const workload : workloads_for(spec, device)) {
    if (workload->role == WorkloadRole::score && scored.empty()) scored = workload->name;
  }
  double before = 0, bound_ns = 0;
  for (const Rung& rung : rungs) bound_ns = std::max(bound_ns, least_time_ns(rung.result.outcome));
  for (Rung& rung : rungs) {
    if (rung.refused() || rung.result.outcome.status != Status::ok) continue;
    rung.over_previous = before > 0 ? rung.result.speedup / before : 1;
    if (!rung.aside) before = rung.result.speedup;
    rung.bound_ns = bound_ns;
    const double ns = typical_ns(rung.result.outcome, scored);
    rung.bound_fraction = bound_ns > 0 && ns > 0 ? bound_ns / ns : 0;
  }
}

std::string ladder_table(const std::vector<Rung>& rungs, const std::string& runner_text) {
  const bool is_static = runner_text.starts_with("compile");
  std::vector<std::vector<std::string>> rows{{"rung", "move"}};
  const std::vector<std::string> heading =
      is_static ? std::vector<std::string>{"registers", "local B", "smem B", "threads", "occupancy"}
                : std::vector<std::string>{"time ms", "speed-up", "step", "of bound"};
  rows.front().insert(rows.front().end(), heading.begin(), heading.end());
  rows.front().emplace_back("verdict");
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    std::vector<std::string> row{std::to_string(i), rungs[i].step};
    for (std::string& cell : is_static ? static_cells(rungs[i]) : timed_cells(rungs[i]))
      row.push_back(std::move(cell));
    row.push_back(valid_utf8(verdict(rungs[i])));
    rows.push_back(std::move(row));
  }
  std::string out = timing_heading(runner_text);
  if (is_static)
    out += runner_text + " runner: compiled and judged by text and code; nothing was launched\n";
  return out + aligned_text(rows);
}

nlohmann::json ladder_json(const Rung& rung, std::size_t number, Stage stage) {
  nlohmann::json out = nlohmann::json::object();
  if (!rung.refused()) out = evaluation_json(rung.result, rung.time, stage);
  out["rung"] = number;
  out["step"] = valid_utf8(rung.step);
  out["move"] = valid_utf8(rung.step.substr(0, rung.step.find_first_of("@( ")));
  out["aside"] = rung.aside;
  out["refusal"] = valid_utf8(rung.refusal);
  out["key"] = variant_key(rung.variant).hex();
  out["speedup_over_previous"] = number_to_json(rung.over_previous);
  out["bound_ms"] = number_to_json(rung.bound_ns * 1e-6);
  out["bound_fraction"] = number_to_json(rung.bound_fraction);
  return out;
}

}  // namespace warpath
