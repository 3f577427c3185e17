#include "engine/plugin/outcome_io.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/json/json_record.h"

namespace warpath {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 3> kAnswers{"pass", "fail", "not_run"};
constexpr std::array<std::string_view, 3> kFactSources{"measured", "static", "assumed"};

template <std::size_t N>
std::size_t index_of(const std::array<std::string_view, N>& names, const JsonCursor& view) {
  const std::string word = view.text();
  const auto it = std::ranges::find(names, word);
  if (it != names.end()) return static_cast<std::size_t>(it - names.begin());
  std::string expected = "one of";
  for (const auto name : names) expected += " " + std::string(name);
  view.fail(expected);
}

json numbers(const std::vector<double>& values) {
  json out = json::array();
  for (const double x : values) out.push_back(number_to_json(x));
  return out;
}

json to_json(const LaunchNumbers& launch) {
  return {{"grid", launch.grid},
          {"block", launch.block},
          {"cluster", launch.cluster},
          {"dynamic_smem_bytes", launch.dynamic_smem_bytes}};
}

std::array<std::int64_t, 3> triple(const JsonCursor& view) {
  if (view.size() != 3) view.fail("three integers");
  return {view.element(0).integer(), view.element(1).integer(), view.element(2).integer()};
}

LaunchNumbers launch_numbers(const JsonCursor& view) {
  require_only(view, {"grid", "block", "cluster", "dynamic_smem_bytes"});
  return {.grid = triple(view.at("grid")),
          .block = triple(view.at("block")),
          .cluster = triple(view.at("cluster")),
          .dynamic_smem_bytes = view.at("dynamic_smem_bytes").integer()};
}

std::vector<double> samples(const JsonCursor& view) {
  std::vector<double> out;
  out.reserve(view.size());
  for (std::size_t i = 0; i < view.size(); ++i) out.push_back(any_number(view.element(i)));
  return out;
}

WorkloadTiming timing(const JsonCursor& view) {
  require_only(view, {"workload", "samples_ns", "launch", "cache", "baseline_samples_ns"});
  WorkloadTiming out{.workload = view.at("workload").text(),
                     .samples_ns = {},
                     .launch = launch_numbers(view.at("launch")),
                     .cache = view.at("cache").text()};
  out.samples_ns = samples(view.at("samples_ns"));
  if (view.find("baseline_samples_ns"))
    out.baseline_samples_ns = samples(view.at("baseline_samples_ns"));
  return out;
}

using Facts = std::map<std::string, Fact, std::less<>>;

json to_json(const Facts& facts) {
  json out = json::object();
  for (const auto& [name, fact] : facts) {
    out[name] = {{"value", number_to_json(fact.value)},
                 {"source", kFactSources[static_cast<std::size_t>(fact.source)]}};
  }
  return out;
}

Facts facts(const JsonCursor& view) {
  if (!view.value().is_object()) view.fail("an object of facts");
  Facts out;
  for (const auto& [name, unused] : view.value().items()) {
    const JsonCursor fact = view.at(name);
    require_only(fact, {"value", "source"});
    out[name] = {.value = any_number(fact.at("value")),
                 .source = static_cast<FactSource>(index_of(kFactSources, fact.at("source")))};
  }
  return out;
}

Facts recordable(const Facts& in) {
  Facts out;
  for (const auto& [name, fact] : in) out[valid_utf8(name)] = fact;
  return out;
}

}  // namespace

Outcome recordable(Outcome outcome) {
  for (WorkloadTiming& t : outcome.timings) {
    t.workload = valid_utf8(t.workload);
    t.cache = valid_utf8(t.cache);
    // One NaN is as good as another, and JSON has a name for one only.
    for (auto* list : {&t.samples_ns, &t.baseline_samples_ns}) {
      for (double& x : *list) x = std::isnan(x) ? std::numeric_limits<double>::quiet_NaN() : x;
    }
  }
  for (GateResult& g : outcome.verdict.gates) {
    g.gate = valid_utf8(g.gate);
    g.detail = valid_utf8(g.detail);
  }
  outcome.log = valid_utf8(outcome.log);
  outcome.binary_key = valid_utf8(outcome.binary_key);
  if (outcome.diagnosis) {
    outcome.diagnosis->time_bound_ns = recordable(outcome.diagnosis->time_bound_ns);
    outcome.diagnosis->facts = recordable(outcome.diagnosis->facts);
  }
  return outcome;
}

json to_json(const Verdict& verdict) {
  json out = json::array();
  for (const GateResult& g : verdict.gates) {
    out.push_back({{"gate", g.gate},
                   {"answer", kAnswers[static_cast<std::size_t>(g.answer)]},
                   {"detail", g.detail}});
  }
  return out;
}

Verdict verdict_from_json(const json& j, std::string_view place) {
  const JsonCursor view(j, std::string(place));
  Verdict out;
  for (std::size_t i = 0; i < view.size(); ++i) {
    const JsonCursor gate = view.element(i);
    require_only(gate, {"gate", "answer", "detail"});
    out.gates.push_back(
        {.gate = gate.at("gate").text(),
         .answer = static_cast<GateResult::Answer>(index_of(kAnswers, gate.at("answer"))),
         .detail = gate.at("detail").text()});
  }
  return out;
}

json to_json(const Outcome& outcome) {
  json timings = json::array();
  for (const WorkloadTiming& t : outcome.timings) {
    json row{{"workload", t.workload},
             {"samples_ns", numbers(t.samples_ns)},
             {"launch", to_json(t.launch)},
             {"cache", t.cache}};
    if (!t.baseline_samples_ns.empty()) row["baseline_samples_ns"] = numbers(t.baseline_samples_ns);
    timings.push_back(std::move(row));
  }
  json out{{"status", name(outcome.status)},
           {"timings", std::move(timings)},
           {"verdict", to_json(outcome.verdict)},
           {"log", outcome.log},
           {"compile_seconds", number_to_json(outcome.compile_seconds)},
           {"run_seconds", number_to_json(outcome.run_seconds)},
           {"binary_key", outcome.binary_key}};
  if (outcome.diagnosis) {
    out["diagnosis"] = {{"time_bound_ns", to_json(outcome.diagnosis->time_bound_ns)},
                        {"facts", to_json(outcome.diagnosis->facts)}};
  }
  return out;
}

Outcome outcome_from_json(const json& j, std::string_view place) {
  const JsonCursor view(j, std::string(place));
  require_only(view, {"status", "timings", "verdict", "log", "compile_seconds", "run_seconds",
                      "binary_key", "diagnosis"});
  Outcome out;
  out.status = static_cast<Status>(index_of(kStatusNames, view.at("status")));
  const JsonCursor timings = view.at("timings");
  for (std::size_t i = 0; i < timings.size(); ++i)
    out.timings.push_back(timing(timings.element(i)));
  const JsonCursor verdict = view.at("verdict");
  out.verdict = verdict_from_json(verdict.value(), verdict.place());
  out.log = view.at("log").text();
  out.compile_seconds = any_number(view.at("compile_seconds"));
  out.run_seconds = any_number(view.at("run_seconds"));
  out.binary_key = view.at("binary_key").text();
  if (view.find("diagnosis")) {
    const JsonCursor diagnosis = view.at("diagnosis");
    require_only(diagnosis, {"time_bound_ns", "facts"});
    out.diagnosis = Diagnosis{.time_bound_ns = facts(diagnosis.at("time_bound_ns")),
                              .facts = facts(diagnosis.at("facts"))};
  }
  return out;
}

}  // namespace warpath
