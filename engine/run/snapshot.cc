#include "engine/run/snapshot.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_record.h"
#include "engine/run/event_log.h"
#include "engine/run/run_folder.h"
#include "engine/search/pools.h"

namespace warpath {
namespace {

using nlohmann::json;

constexpr std::string_view kPoolsSuffix = ".pools";

// The file is the document with its sum put before the last brace, like a line of the log.
constexpr std::size_t kSnapshotTail = kSumKey.size() + 32 + 3;  // ,"sum":"..."}\n

// Nodes and edges are rows of numbers, in the order of these functions: a million of them are a
// file of 150 MB, not of 1 GB.

json row(const Node& n, const Hash128& key) {
  return {key.hex(),
          number_to_json(n.reward),
          number_to_json(n.best),
          number_to_json(n.value),
          n.visits,
          n.in_flight,
          index(n.first_out),
          index(n.last_out),
          index(n.first_in),
          n.next_action,
          n.action_count,
          n.live_out,
          n.depth,
          static_cast<unsigned>(n.state),
          n.opened,
          n.live};
}

json row(const Edge& e) {
  return {index(e.source),
          index(e.target),
          index(e.next_out),
          index(e.next_in),
          e.visits,
          e.action,
          number_to_json(e.prior.value())};
}

/// Reads the elements of one row in order.
class Row {
 public:
  Row(JsonCursor cursor, std::size_t size) : cursor_(std::move(cursor)) {
    cursor_.require_array();
    if (cursor_.size() != size) cursor_.fail(std::to_string(size) + " values");
  }
  JsonCursor next() { return cursor_.element(i_++); }
  template <class Integer = std::uint32_t>
  Integer natural() {
    const JsonCursor c = next();
    const std::uint64_t x = c.unsigned_integer();
    if (x > std::numeric_limits<Integer>::max())
      c.fail("an integer up to " + std::to_string(std::numeric_limits<Integer>::max()));
    return static_cast<Integer>(x);
  }

 private:
  JsonCursor cursor_;
  std::size_t i_ = 0;
};

Node node_from(const JsonCursor& cursor, Hash128& key) {
  Row row(cursor, 16);
  Node n;
  key = hash_from_json(row.next());
  n.reward = any_number(row.next());
  n.best = any_number(row.next());
  n.value = any_number(row.next());
  n.visits = row.natural();
  n.in_flight = row.natural();
  n.first_out = EdgeId{row.natural()};
  n.last_out = EdgeId{row.natural()};
  n.first_in = EdgeId{row.natural()};
  n.next_action = row.natural();
  n.action_count = row.natural();
  n.live_out = row.natural();
  n.depth = row.natural<std::uint16_t>();
  const JsonCursor state = row.next();
  if (state.unsigned_integer() > static_cast<std::uint64_t>(NodeState::failed))
    state.fail("a node state from 0 to 2");
  n.state = static_cast<NodeState>(state.unsigned_integer());
  n.opened = row.next().boolean();
  n.live = row.next().boolean();
  return n;
}

Edge edge_from(const JsonCursor& cursor) {
  Row row(cursor, 7);
  Edge e;
  e.source = NodeId{row.natural()};
  e.target = NodeId{row.natural()};
  e.next_out = EdgeId{row.natural()};
  e.next_in = EdgeId{row.natural()};
  e.visits = row.natural();
  e.action = row.natural<std::uint16_t>();
  e.prior = BFloat16(static_cast<float>(any_number(row.next())));
  return e;
}

json state_to_json(const Search::State& s) {
  json pending = json::array();
  for (const auto& p : s.pending) {
    json path = json::array();
    for (const EdgeId e : p.path) path.push_back(index(e));
    pending.push_back({p.dispatch.sequence, index(p.dispatch.node), index(p.dispatch.parent),
                       p.dispatch.action, std::move(path)});
  }
  return {
      {"next_sequence", s.next_sequence},
      {"playouts", s.playouts},
      {"rewards", {s.rewards.count, number_to_json(s.rewards.mean), number_to_json(s.rewards.m2)}},
      {"floor", number_to_json(s.floor)},
      {"best", index(s.best)},
      {"pending", std::move(pending)}};
}

Search::State state_from(const JsonCursor& c) {
  require_only(c, {"next_sequence", "playouts", "rewards", "floor", "best", "pending"});
  Search::State s;
  s.next_sequence = c.at("next_sequence").unsigned_integer();
  s.playouts = c.at("playouts").unsigned_integer();
  Row rewards(c.at("rewards"), 3);
  s.rewards.count = rewards.natural<std::uint64_t>();
  s.rewards.mean = any_number(rewards.next());
  s.rewards.m2 = any_number(rewards.next());
  s.floor = any_number(c.at("floor"));
  const std::uint64_t best = c.at("best").unsigned_integer();
  if (best > index(kNoNode)) c.at("best").fail("a node number");
  s.best = NodeId{static_cast<std::uint32_t>(best)};
  const JsonCursor pending = c.at("pending");
  pending.require_array();
  for (std::size_t i = 0; i < pending.size(); ++i) {
    Row row(pending.element(i), 5);
    Search::State::Pending p;
    p.dispatch.sequence = row.natural<std::uint64_t>();
    p.dispatch.node = NodeId{row.natural()};
    p.dispatch.parent = NodeId{row.natural()};
    p.dispatch.action = row.natural();
    const JsonCursor path = row.next();
    path.require_array();
    Row edges(path, path.size());
    for (std::size_t j = 0; j < path.size(); ++j) p.path.push_back(EdgeId{edges.natural()});
    s.pending.push_back(std::move(p));
  }
  return s;
}

}  // namespace

namespace {

json head_of(const Snapshot& snapshot) {
  json links = json::array();
  for (const auto& [edge, move] : snapshot.links) links.push_back({index(edge), move});
  return {{"schema", kSnapshotSchema},
          {"links", std::move(links)},
          {"log",
           {{"lines", snapshot.log.lines},
            {"bytes", snapshot.log.bytes},
            {"chain", snapshot.log.chain.hex()}}},
          {"search", state_to_json(snapshot.state)}};
}

std::string sealed(const json& document) {
  std::string text = document.dump();
  const Hash128 sum = hash128(text);
  text.pop_back();
  text += kSumKey;
  text += sum.hex();
  text += "\"}\n";
  return text;
}

/// Pools beside the snapshot `path`, as of a line of the log.
std::filesystem::path pools_of(const std::filesystem::path& path, const std::string& name) {
  return path.parent_path() / name;
}

std::map<EdgeId, std::string> links_from(const JsonCursor& c) {
  std::map<EdgeId, std::string> out;
  const auto links = c.find("links");
  if (!links) return out;
  links->require_array();
  for (std::size_t i = 0; i < links->size(); ++i) {
    Row row(links->element(i), 2);
    const EdgeId edge{row.natural()};
    out.emplace(edge, row.next().text());
  }
  return out;
}

Graph::Arenas arenas_from(const JsonCursor& c, const std::string& place) {
  if (const auto pools = c.find("pools")) {
    require_only(*pools, {"file", "sum"});
    const std::string name = pools->at("file").text();
    if (name.find('/') != std::string::npos || !name.ends_with(kPoolsSuffix))
      pools->at("file").fail("a file of pools beside this one");
    return map_pools(pools_of(place, name), hash_from_json(pools->at("sum")));
  }
  Graph::Arenas out;
  const JsonCursor nodes = c.at("nodes");
  nodes.require_array();
  out.keys.resize(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    out.nodes.push_back(node_from(nodes.element(i), out.keys[i]));
  const JsonCursor edges = c.at("edges");
  edges.require_array();
  for (std::size_t i = 0; i < edges.size(); ++i) out.edges.push_back(edge_from(edges.element(i)));
  return out;
}

}  // namespace

std::string encode(const Snapshot& snapshot) {
  json nodes = json::array();
  for (std::size_t i = 0; i < snapshot.arenas.nodes.size(); ++i)
    nodes.push_back(row(snapshot.arenas.nodes[i], snapshot.arenas.keys[i]));
  json edges = json::array();
  for (const Edge& e : snapshot.arenas.edges) edges.push_back(row(e));
  json document = head_of(snapshot);
  document["nodes"] = std::move(nodes);
  document["edges"] = std::move(edges);
  return sealed(document);
}

void save_snapshot(const Snapshot& snapshot, const std::filesystem::path& path, bool sync) {
  const bool large = snapshot.arenas.edges.size() > kMostReadableEdges;
  const std::string name =
      path.stem().string() + "." + std::to_string(snapshot.log.lines) + std::string(kPoolsSuffix);
  if (large) {
    const std::string bytes = pools_bytes(snapshot.arenas);
    write_file_atomically(pools_of(path, name), bytes, sync);
    json document = head_of(snapshot);
    document["pools"] = {{"file", name}, {"sum", hash128(bytes).hex()}};
    write_file_atomically(path, sealed(document), sync);
  } else {
    write_file_atomically(path, encode(snapshot), sync);
  }
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path(), ignored)) {
    const std::string other = entry.path().filename().string();
    const bool older = other.starts_with(path.stem().string() + ".") &&
                       other.ends_with(kPoolsSuffix) && (!large || other != name);
    if (older) std::filesystem::remove(entry.path(), ignored);
  }
}

Snapshot decode_snapshot(std::string_view text, const std::string& place) {
  const std::string_view tail =
      text.size() > kSnapshotTail ? text.substr(text.size() - kSnapshotTail) : std::string_view();
  if (!tail.starts_with(kSumKey) || !tail.ends_with("\"}\n"))
    throw bad_input(place, "", "a document that ends in its sum");
  const std::string body = std::string(text.substr(0, text.size() - kSnapshotTail)) + "}";
  const std::string sum = hash128(body).hex();
  if (tail.substr(kSumKey.size(), 32) != sum) {
    throw bad_input(place + ":/sum", tail.substr(kSumKey.size(), 32),
                    sum + ": the file was altered");
  }
  json document;
  try {
    document = json::parse(body);  // the sum is right: a writer of ours made this, of whatever size
  } catch (const json::exception&) {
    throw bad_input(place, "", "JSON");
  }
  const JsonCursor c(document, place);
  if (c.at("schema").unsigned_integer() != kSnapshotSchema)
    c.at("schema").fail("schema " + std::to_string(kSnapshotSchema));
  require_only(c, {"schema", "log", "search", "links", "nodes", "edges", "pools"});
  const JsonCursor log = c.at("log");
  return {.log = {.lines = log.at("lines").unsigned_integer(),
                  .bytes = log.at("bytes").unsigned_integer(),
                  .chain = hash_from_json(log.at("chain"))},
          .arenas = arenas_from(c, place),
          .state = state_from(c.at("search")),
          .links = links_from(c)};
}

std::optional<Snapshot> load_snapshot(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  return decode_snapshot(read_text_file(path.string(), std::size_t{4} << 30U, path.string()),
                         path.string());
}

}  // namespace warpath
