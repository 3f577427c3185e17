#include "runners/cuda/gate_plan.h"

#include <algorithm>
#include <set>

#include "engine/error.h"

namespace warpath::cuda {

std::string gate_identifier(std::string_view name) {
  return std::string(name.substr(0, name.find('_')));
}

GatePlan GatePlan::from(const CudaOptions& options, const std::vector<std::string>& names) {
  GatePlan plan;
  for (const std::string& name : names) plan.name_of.emplace(gate_identifier(name), name);
  std::set<std::string> seen;
  const std::string* const lists[] = {&options.screening, &options.confirmation, &options.final};
  for (std::size_t stage = 0; stage < kStageNames.size(); ++stage) {
    const std::string place = "cuda." + std::string(kStageNames[stage]);
    const std::string& list = *lists[stage];
    for (std::size_t begin = 0; begin < list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      const std::string id = list.substr(begin, end - begin);
      begin = end + 1;
      if (!plan.name_of.contains(id)) {
        std::string all;
        for (const auto& [one, name] : plan.name_of) all += (all.empty() ? "" : ", ") + one;
        throw bad_input(place, id, "a gate: one of " + all);
      }
      if (!seen.insert(id).second) throw bad_input(place, id, "every gate once, at its first stage");
      plan.stages[stage].push_back(id);
    }
  }
  return plan;
}

bool GatePlan::runs(const std::string& id, Stage stage) const {
  for (std::size_t s = 0; s <= static_cast<std::size_t>(stage); ++s) {
    if (std::find(stages[s].begin(), stages[s].end(), id) != stages[s].end()) return true;
  }
  return false;
}

void GatePlan::list_unrun(Stage stage, Outcome& outcome) const {
  const bool failed = outcome.status != Status::ok;
  for (std::size_t s = 0; s < kStageNames.size(); ++s) {
    for (const std::string& id : stages[s]) {
      const bool there = std::any_of(outcome.verdict.gates.begin(), outcome.verdict.gates.end(),
                                     [&](const GateResult& r) { return gate_identifier(r.gate) == id; });
      if (there) continue;
      std::string why = "only at " + std::string(kStageNames[s]);
      if (failed) why = "an earlier gate failed";
      if (!failed && s <= static_cast<std::size_t>(stage)) why = "not in this build";
      outcome.verdict.gates.push_back({name_of.at(id), GateResult::Answer::not_run, why});
    }
  }
}

}  // namespace warpath::cuda
