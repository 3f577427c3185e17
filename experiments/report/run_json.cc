#include "experiments/report/run_json.h"

#include <nlohmann/json.hpp>

#include "engine/json/json_record.h"
#include "engine/plugin/outcome_io.h"
#include "engine/plugin/variant_io.h"
#include "engine/run/record.h"

namespace warpath {
namespace {

using nlohmann::json;

json summary(const RecordedRun& run, std::size_t id) {
  const RecordedNode& node = run.nodes()[id];
  const bool first = node.parent == kNoNode;
  return {
      {"key", node.key.hex()},
      {"parent", first ? json() : json(run.nodes()[index(node.parent)].key.hex())},
      {"move", valid_utf8(node.move)},
      {"proposer", node.proposer},
      {"status", node.outcome ? json(name(node.outcome->status)) : json("in flight")},
      {"speedup", node.speedup > 0 ? number_to_json(node.speedup) : json()},
      {"final_speedup",
       node.timed_again && node.final_speedup > 0 ? number_to_json(node.final_speedup) : json()},
      {"build", node.build > 0 ? json(node.build) : json()},
      {"seconds", node.outcome ? number_to_json(node.seconds) : json()}};
}

}  // namespace

json run_json(const RecordedRun& run) {
  json nodes = json::array();
  for (std::size_t i = 0; i < run.nodes().size(); ++i) nodes.push_back(summary(run, i));
  return {{"name", run.run().name},
          {"runner", run.run().runner},
          {"seed", run.run().seed},
          {"device", valid_utf8(run.device().name)},
          {"best", run.nodes()[run.find("best")].key.hex()},
          {"nodes", std::move(nodes)}};
}

json node_json(const RecordedRun& run, std::size_t id) {
  const RecordedNode& node = run.nodes()[id];
  json out = summary(run, id);
  out["path"] = json::array();
  for (const std::size_t step : run.path(id)) out["path"].push_back(run.nodes()[step].key.hex());
  out["outcome"] = node.outcome ? to_json(*node.outcome) : json();
  out["final_outcome"] = node.final_outcome ? to_json(*node.final_outcome) : json();
  const Variant variant = run.variant(id);
  out["variant"] = to_json(variant);
  out["diff"] = node.parent == kNoNode
                    ? json()
                    : json(valid_utf8(variant_diff(run.variant(index(node.parent)), variant)));
  return out;
}

}  // namespace warpath
