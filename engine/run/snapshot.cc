#include "engine/run/snapshot.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "engine/base/base64.h"
#include "engine/base/error.h"
#include "engine/run/event_log.h"
#include "engine/run/log_codec.h"
#include "engine/run/run_folder.h"
#include "engine/search/pools.h"

namespace warpath {
namespace {

using nlohmann::json;

constexpr std::string_view kPoolsSuffix = ".pools";

// The file is the document with its sum put before the last brace, like a line of the log.
constexpr std::size_t kSnapshotTail = kSumKey.size() + 32 + 3;  // ,"sum":"..."}\n

/// The arenas in a file of their own.
struct PoolsFile {
  std::string file;
  Hash128 sum;
};
struct NodeRow : Node {
  Hash128 key;
};
/// The document of a snapshot: the arenas are either rows in it or in a file that it names.
struct SnapshotFile {
  LogPosition log;
  Search::State search;
  std::map<EdgeId, std::string> links = {};
  std::vector<NodeRow> nodes = {};
  std::vector<Edge> edges = {};
  std::optional<PoolsFile> pools = {};
};

}  // namespace

namespace snapshot_fields {

struct State {
  static void read(const JsonCursor& cursor, NodeState& out) {
    Natural::read(cursor, out);
    if (out > NodeState::failed) cursor.fail("a node state from 0 to 2");
  }
  static json write(NodeState state) { return Natural::write(state); }
};
struct Prior {
  static void read(const JsonCursor& cursor, BFloat16& out) {
    out = BFloat16(static_cast<float>(any_number(cursor)));
  }
  static json write(BFloat16 prior) { return number_to_json(prior.value()); }
};
/// Pairs of an edge and a move.
struct Links {
  static void read(const JsonCursor& cursor, std::map<EdgeId, std::string>& out) {
    cursor.require_array();
    for (std::size_t i = 0; i < cursor.size(); ++i) {
      const JsonCursor row = cursor.element(i);
      if (row.size() != 2) row.fail("an array of 2");
      EdgeId edge{};
      Natural::read(row.element(0), edge);
      out.emplace(edge, row.element(1).text());
    }
  }
  static json write(const std::map<EdgeId, std::string>& links) {
    json out = json::array();
    for (const auto& [edge, move] : links) out.push_back({index(edge), move});
    return out;
  }
};
struct Bytes {
  static void read(const JsonCursor& cursor, std::string& out) {
    const auto bytes = base64_decode(cursor.text());
    if (!bytes) cursor.fail("base64");
    out.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  }
  static json write(const std::string& bytes) {
    return base64_encode(std::as_bytes(std::span(bytes)));
  }
};
using Moments = RowOf<Welford,
                      Column<&Welford::count>,
                      Column<&Welford::mean, AnyNumber>,
                      Column<&Welford::m2, AnyNumber>>;
struct PendingRow : Dispatch {
  std::vector<EdgeId> path;
};
struct Pending {
  using Row = RowOf<PendingRow,
                    Column<&PendingRow::sequence>,
                    Column<&PendingRow::node, Natural>,
                    Column<&PendingRow::parent, Natural>,
                    Column<&PendingRow::action, Natural>,
                    Column<&PendingRow::path, Each<Natural>>>;
  static void read(const JsonCursor& cursor, Search::State::Pending& out) {
    PendingRow row;
    Row::read(cursor, row);
    out = {.dispatch = row, .path = std::move(row.path)};
  }
  static json write(const Search::State::Pending& pending) {
    return Row::write({pending.dispatch, pending.path});
  }
};

}  // namespace snapshot_fields

// Nodes and edges are rows of numbers: a million of them are a file of 150 MB, not of 1 GB.
template <>
struct Codec<NodeRow> : RowOf<NodeRow,
                              Column<&NodeRow::key>,
                              Column<&NodeRow::reward, AnyNumber>,
                              Column<&NodeRow::best, AnyNumber>,
                              Column<&NodeRow::value, AnyNumber>,
                              Column<&NodeRow::visits, Natural>,
                              Column<&NodeRow::in_flight, Natural>,
                              Column<&NodeRow::first_out, Natural>,
                              Column<&NodeRow::last_out, Natural>,
                              Column<&NodeRow::first_in, Natural>,
                              Column<&NodeRow::next_action, Natural>,
                              Column<&NodeRow::action_count, Natural>,
                              Column<&NodeRow::live_out, Natural>,
                              Column<&NodeRow::depth, Natural>,
                              Column<&NodeRow::state, snapshot_fields::State>,
                              Column<&NodeRow::opened>,
                              Column<&NodeRow::live>> {};
template <>
struct Codec<Edge> : RowOf<Edge,
                           Column<&Edge::source, Natural>,
                           Column<&Edge::target, Natural>,
                           Column<&Edge::next_out, Natural>,
                           Column<&Edge::next_in, Natural>,
                           Column<&Edge::visits, Natural>,
                           Column<&Edge::action, Natural>,
                           Column<&Edge::prior, snapshot_fields::Prior>> {};
template <>
struct Description<Search::State>
    : Record<Kept<"next_sequence", &Search::State::next_sequence>,
             Kept<"playouts", &Search::State::playouts>,
             Kept<"rewards", &Search::State::rewards, snapshot_fields::Moments>,
             Kept<"floor", &Search::State::floor, AnyNumber>,
             Kept<"best", &Search::State::best, Natural>,
             Kept<"pending", &Search::State::pending, Each<snapshot_fields::Pending>>,
             Sparse<"strategy", &Search::State::strategy, snapshot_fields::Bytes>> {};
template <>
struct Description<PoolsFile>
    : Record<Kept<"file", &PoolsFile::file>, Kept<"sum", &PoolsFile::sum>> {};
template <>
struct Description<SnapshotFile>
    : Record<AlwaysNumber<"schema", kSnapshotSchema>,
             Kept<"log", &SnapshotFile::log>,
             Kept<"search", &SnapshotFile::search>,
             Sparse<"links", &SnapshotFile::links, snapshot_fields::Links>,
             Sparse<"nodes", &SnapshotFile::nodes>,
             Sparse<"edges", &SnapshotFile::edges>,
             Sparse<"pools", &SnapshotFile::pools>> {};

namespace {

SnapshotFile head_of(const Snapshot& snapshot) {
  return {.log = snapshot.log, .search = snapshot.state, .links = snapshot.links};
}

std::string sealed(const SnapshotFile& file) {
  std::string text = Codec<SnapshotFile>::write(file).dump();
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

Graph::Arenas arenas_from(const SnapshotFile& file, const JsonCursor& at) {
  if (file.pools) {
    const std::string& name = file.pools->file;
    if (name.find('/') != std::string::npos || !name.ends_with(kPoolsSuffix))
      at.at("pools").at("file").fail("a file of pools beside this one");
    return map_pools(pools_of(at.file(), name), file.pools->sum);
  }
  Graph::Arenas out;
  for (const NodeRow& row : file.nodes) {
    out.keys.push_back(row.key);
    out.nodes.push_back(row);
  }
  for (const Edge& edge : file.edges) out.edges.push_back(edge);
  return out;
}

}  // namespace

std::string encode(const Snapshot& snapshot) {
  SnapshotFile file = head_of(snapshot);
  for (std::size_t i = 0; i < snapshot.arenas.nodes.size(); ++i)
    file.nodes.push_back({snapshot.arenas.nodes[i], snapshot.arenas.keys[i]});
  file.edges.assign(snapshot.arenas.edges.begin(), snapshot.arenas.edges.end());
  return sealed(file);
}

void save_snapshot(const Snapshot& snapshot, const std::filesystem::path& path, bool sync) {
  const bool large = snapshot.arenas.edges.size() > kMostReadableEdges;
  const std::string name =
      path.stem().string() + "." + std::to_string(snapshot.log.lines) + std::string(kPoolsSuffix);
  if (large) {
    const std::string bytes = pools_bytes(snapshot.arenas);
    write_file_atomically(pools_of(path, name), bytes, sync);
    SnapshotFile file = head_of(snapshot);
    file.pools = {name, hash128(bytes)};
    write_file_atomically(path, sealed(file), sync);
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
    document =
        json::parse(body);  // the checksum is right: the program wrote this, whatever its size
  } catch (const json::exception&) {
    throw bad_input(place, "", "JSON");
  }
  const JsonCursor c(document, place);
  SnapshotFile file;
  Codec<SnapshotFile>::read(c, file);
  Graph::Arenas arenas = arenas_from(file, c);
  return {.log = file.log,
          .arenas = std::move(arenas),
          .state = std::move(file.search),
          .links = std::move(file.links)};
}

std::optional<Snapshot> load_snapshot(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  return decode_snapshot(read_text_file(path.string(), std::size_t{4} << 30U, path.string()),
                         path.string());
}

}  // namespace warpath
