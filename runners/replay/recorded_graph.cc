#include "runners/replay/recorded_graph.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "engine/plugin/device_io.h"
#include "engine/plugin/outcome_io.h"
#include "engine/plugin/variant_io.h"
#include "engine/run/run_folder.h"
#include "engine/spec/spec_load.h"
#include "runners/replay/graph_walk.h"
#include "runners/replay/gzip.h"

namespace warpath {
namespace {

using nlohmann::json;

json to_json(const RecordedGraph::Action& action) {
  return {action.instance.text(), action.source, number_to_json(action.weight), action.target};
}

RecordedGraph::Action action_from(const JsonCursor& c) {
  c.require_array();
  if (c.size() != 4) c.fail("[move, proposer, weight, row]");
  RecordedGraph::Action out{
      .instance = MoveInstance::parse(c.element(0).text(), c.element(0).place()),
      .source = c.element(1).text(),
      .weight = c.element(2).number()};
  const std::uint64_t target = c.element(3).unsigned_integer();
  if (target >= Recording::kNone) c.element(3).fail("a row");
  out.target = static_cast<std::uint32_t>(target);
  return out;
}

RecordedGraph::Node node_from(const JsonCursor& at, Recording::Row& row) {
  require_only(at, {"key", "variant", "outcome", "actions", "time_ns", "samples_ns"});
  RecordedGraph::Node node{
      .variant = variant_from_json(at.at("variant").value(), at.at("variant").place()),
      .key = hash_from_json(at.at("key")),
      .outcome = outcome_from_json(at.at("outcome").value(), at.at("outcome").place())};
  const JsonCursor actions = at.at("actions");
  actions.require_array();
  for (std::size_t k = 0; k < actions.size(); ++k)
    node.actions.push_back(action_from(actions.element(k)));
  row = {.status = node.outcome.status,
         .compile_seconds = node.outcome.compile_seconds,
         .run_seconds = node.outcome.run_seconds};
  if (row.status == Status::ok) row.time_ns = at.at("time_ns").number();
  if (const auto samples = at.find("samples_ns")) {
    samples->require_array();
    for (std::size_t k = 0; k < samples->size(); ++k)
      row.samples_ns.push_back(static_cast<float>(samples->element(k).number()));
  }
  return node;
}

}  // namespace

RecordedGraph::RecordedGraph(std::string name,
                             DeviceFacts device,
                             KernelSpec spec,
                             std::vector<Node> nodes,
                             std::vector<Row> rows,
                             std::string_view place)
    : Recording(std::move(name), device.name, std::move(rows), place),
      facts_(std::move(device)),
      spec_(std::move(spec)),
      nodes_(std::move(nodes)) {
  WARPATH_CHECK(nodes_.size() == Recording::rows().size());
  const std::string where(place);
  if (!(nodes_.front().variant == baseline_variant(spec_)))
    throw bad_input(where + ":2", "another kernel", "the spec's own");
  if (Recording::rows().front().status != Status::ok)
    throw bad_input(where + ":2", "a baseline that failed", "one with a time");
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const std::string at = where + ":" + std::to_string(i + 2);
    if (nodes_[i].key != variant_key(nodes_[i].variant))
      throw bad_input(at + ":/key", nodes_[i].key.hex(), variant_key(nodes_[i].variant).hex());
    if (!rows_by_key_.emplace(nodes_[i].key.hex(), i).second)
      throw bad_input(at, nodes_[i].key.hex(), "each variant once");
    for (const Action& action : nodes_[i].actions) {
      if (action.target >= nodes_.size())
        throw bad_input(at + ":/actions", std::to_string(action.target),
                        "a row below " + std::to_string(nodes_.size()));
    }
  }
}

std::uint32_t RecordedGraph::find(const Hash128& key) const {
  const auto it = rows_by_key_.find(key.hex());
  return it == rows_by_key_.end() ? kNone : it->second;
}

std::unique_ptr<Recording::Walk> RecordedGraph::walk(std::uint32_t first,
                                                     const Steps& steps) const {
  return std::make_unique<GraphWalk>(*this, first, steps);
}

void RecordedGraph::neighbours(std::uint32_t row, std::vector<std::uint32_t>& out) const {
  for (const Action& action : nodes_[row].actions) out.push_back(action.target);
}

// A line a row, the graph itself first: no line is long, and deflate finds the text of a variant in
// its parent's.

std::string graph_text(const RecordedGraph& graph) {
  const json head{{"format", kGraphFormat},
                  {"version", 1},
                  {"name", graph.name()},
                  {"device", to_json(graph.facts())},
                  {"spec", to_json(graph.spec())}};
  std::string out = head.dump() + "\n";
  for (std::uint32_t i = 0; i < graph.rows().size(); ++i) {
    const RecordedGraph::Node& node = graph.node(i);
    const Recording::Row& row = graph.rows()[i];
    json actions = json::array();
    for (const RecordedGraph::Action& action : node.actions) actions.push_back(to_json(action));
    json line{{"key", node.key.hex()},
              {"variant", to_json(node.variant)},
              {"outcome", to_json(node.outcome)},
              {"actions", std::move(actions)}};
    if (row.status == Status::ok) line["time_ns"] = row.time_ns;
    if (!row.samples_ns.empty()) line["samples_ns"] = row.samples_ns;
    out += line.dump() + "\n";
  }
  return out;
}

RecordedGraph parse_graph(const std::string& text,
                          const std::string& name,
                          const std::string& place) {
  std::optional<json> head;
  std::vector<RecordedGraph::Node> nodes;
  std::vector<Recording::Row> rows;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string at = place + ":" + std::to_string(++number);
    json line = parse_json(std::string_view(text).substr(begin, end - begin), at);
    begin = end + 1;
    if (!head) {
      head = std::move(line);
      continue;
    }
    Recording::Row row;
    nodes.push_back(node_from(JsonCursor(line, at), row));
    rows.push_back(std::move(row));
  }
  if (!head || nodes.empty()) throw bad_input(place, "", "a graph and its rows");
  const JsonCursor c(*head, place + ":1");
  require_only(c, {"format", "version", "name", "device", "spec"});
  if (c.at("format").text() != kGraphFormat) c.at("format").fail(std::string(kGraphFormat));
  if (c.at("version").unsigned_integer() != 1) c.at("version").fail("1");
  const std::string own = c.at("name").text();
  return {own.empty() ? name : own,
          device_from_json(c.at("device")),
          spec_from_json(c.at("spec").value(), c.at("spec").place()),
          std::move(nodes),
          std::move(rows),
          place};
}

void save_graph(const RecordedGraph& graph, const std::filesystem::path& file) {
  write_file_atomically(file, gzip(graph_text(graph)), true);
}

}  // namespace warpath
