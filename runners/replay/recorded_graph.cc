#include "runners/replay/recorded_graph.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/base/compression.h"
#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/log/run_folder.h"
#include "engine/plugin/device_fields.h"
#include "engine/plugin/outcome_fields.h"
#include "engine/plugin/variant_fields.h"
#include "engine/spec/spec_load.h"
#include "runners/replay/graph_walk.h"

namespace warpath {
namespace {

using nlohmann::json;

struct GraphHead {
  std::string format = std::string(kGraphFormat);
  std::uint64_t version = 1;
  std::string name;
  DeviceFacts device;
  KernelSpec spec;
};
struct GraphLine {
  Hash128 key;
  Variant variant;
  Outcome outcome;
  std::vector<RecordedGraph::Action> actions;
  std::optional<double> time_ns;  ///< where the outcome is ok
  std::vector<float> samples_ns;
};

/// Another format or version may have other keys: they are read before all else.
struct Format {
  static void read(const JsonCursor& cursor, std::string& out) {
    out = cursor.text();
    if (out != kGraphFormat) cursor.fail(std::string(kGraphFormat));
  }
  static json write(const std::string& value) { return value; }
};
struct Version {
  static void read(const JsonCursor& cursor, std::uint64_t& out) {
    out = cursor.unsigned_integer();
    if (out != 1) cursor.fail("1");
  }
  static json write(std::uint64_t value) { return value; }
};
/// As spec_from_json() checks it.
struct CheckedSpec {
  static void read(const JsonCursor& cursor, KernelSpec& out) {
    out = spec_from_json(cursor.value(), cursor.place());
  }
  static json write(const KernelSpec& spec) { return to_json(spec); }
};
struct Narrow {
  static void read(const JsonCursor& cursor, float& out) {
    out = static_cast<float>(cursor.number());
  }
  static json write(float value) { return value; }
};

}  // namespace

/// [move, proposer, weight, row]
template <>
struct Codec<RecordedGraph::Action> {
  static void read(const JsonCursor& c, RecordedGraph::Action& out) {
    c.require_array();
    if (c.size() != 4) c.fail("[move, proposer, weight, row]");
    out = {.instance = MoveInstance::parse(c.element(0).text(), c.element(0).place()),
           .source = c.element(1).text(),
           .weight = c.element(2).number()};
    const std::uint64_t target = c.element(3).unsigned_integer();
    if (target >= Recording::kNone) c.element(3).fail("a row");
    out.target = static_cast<std::uint32_t>(target);
  }
  static json write(const RecordedGraph::Action& action) {
    return {action.instance.text(), action.source, number_to_json(action.weight), action.target};
  }
};
template <>
struct Description<GraphHead> : Record<Kept<"format", &GraphHead::format, Format>,
                                       Kept<"version", &GraphHead::version, Version>,
                                       Kept<"name", &GraphHead::name>,
                                       Kept<"device", &GraphHead::device>,
                                       Kept<"spec", &GraphHead::spec, CheckedSpec>> {};
template <>
struct Description<GraphLine> : Record<Kept<"key", &GraphLine::key>,
                                       Kept<"variant", &GraphLine::variant>,
                                       Kept<"outcome", &GraphLine::outcome>,
                                       Kept<"actions", &GraphLine::actions>,
                                       Sparse<"time_ns", &GraphLine::time_ns>,
                                       Sparse<"samples_ns", &GraphLine::samples_ns, Each<Narrow>>> {
};

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

std::vector<std::uint32_t> RecordedGraph::reachable() const {
  std::vector<std::uint32_t> out{0};
  std::vector<bool> seen(nodes_.size());
  seen[0] = true;
  for (std::size_t next = 0; next < out.size(); ++next) {
    const std::uint32_t row = out[next];
    if (rows()[row].status != Status::ok) continue;
    for (const Action& action : nodes_[row].actions) {
      if (!seen[action.target]) out.push_back(action.target);
      seen[action.target] = true;
    }
  }
  std::ranges::sort(out);
  return out;
}

// A line a row, the graph itself first: no line is long, and deflate finds the text of a variant in
// its parent's.

std::string graph_text(const RecordedGraph& graph) {
  const GraphHead head{.name = graph.name(), .device = graph.facts(), .spec = graph.spec()};
  std::string out = Codec<GraphHead>::write(head).dump() + "\n";
  for (std::uint32_t i = 0; i < graph.rows().size(); ++i) {
    const RecordedGraph::Node& node = graph.node(i);
    const Recording::Row& row = graph.rows()[i];
    GraphLine line{.key = node.key,
                   .variant = node.variant,
                   .outcome = node.outcome,
                   .actions = node.actions,
                   .time_ns = std::nullopt,
                   .samples_ns = row.samples_ns};
    if (row.status == Status::ok) line.time_ns = row.time_ns;
    out += Codec<GraphLine>::write(line).dump() + "\n";
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
    const JsonCursor cursor(line, at);
    GraphLine one;
    Codec<GraphLine>::read(cursor, one);
    const bool ok = one.outcome.status == Status::ok;
    rows.push_back({.status = one.outcome.status,
                    .time_ns = ok ? cursor.at("time_ns").number() : 0,
                    .samples_ns = std::move(one.samples_ns),
                    .compile_seconds = one.outcome.compile_seconds,
                    .run_seconds = one.outcome.run_seconds});
    nodes.push_back({.variant = std::move(one.variant),
                     .key = one.key,
                     .outcome = std::move(one.outcome),
                     .actions = std::move(one.actions)});
  }
  if (!head || nodes.empty()) throw bad_input(place, "", "a graph and its rows");
  GraphHead read;
  Codec<GraphHead>::read(JsonCursor(*head, place + ":1"), read);
  return {read.name.empty() ? name : read.name,
          std::move(read.device),
          std::move(read.spec),
          std::move(nodes),
          std::move(rows),
          place};
}

void save_graph(const RecordedGraph& graph, const std::filesystem::path& file) {
  write_file_atomically(file, gzip(graph_text(graph), Effort::most), true);
}

}  // namespace warpath
