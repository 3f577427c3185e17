#include "engine/plugin/outcome_io.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/plugin/outcome_fields.h"

namespace warpath {
namespace {

using nlohmann::json;

using Facts = std::map<std::string, Fact, std::less<>>;

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
  return Codec<Verdict>::write(verdict);
}

json to_json(const Outcome& outcome) {
  return Codec<Outcome>::write(outcome);
}

Outcome outcome_from_json(const json& j, std::string_view place) {
  Outcome out;
  Codec<Outcome>::read(JsonCursor(j, std::string(place)), out);
  return out;
}

}  // namespace warpath
