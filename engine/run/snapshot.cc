#include "engine/run/snapshot.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "engine/base/base64.h"
#include "engine/base/block.h"
#include "engine/base/error.h"
#include "engine/base/file_reader.h"
#include "engine/base/hash_pieces.h"
#include "engine/log/event_log.h"
#include "engine/log/log_codec.h"
#include "engine/log/run_folder.h"
#include "engine/search/pools.h"

namespace warpath {
namespace {

using nlohmann::json;

constexpr std::string_view kPoolsSuffix = ".pools", kKeptSuffix = ".kept";

// The file is the document with its sum put before the last brace, like a line of the log.
constexpr std::size_t kSnapshotTail = kSumKey.size() + 32 + 3;  // ,"sum":"..."}\n

/// A part in a file of its own.
struct PartFile {
  std::string file;
  Hash128 sum;
};
struct NodeRow : Node {
  Hash128 key;
};
/// The document of a snapshot: the graph is either rows in it or a file that it names; so are the
/// links and what else is kept.
struct SnapshotFile {
  LogPosition log;
  Search::State search;
  std::vector<NodeRow> nodes = {};
  std::vector<Edge> edges = {};
  std::string kept = {};
  std::optional<PartFile> pools = {}, kept_file = {};
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
             Kept<"pending", &Search::State::pending, Each<snapshot_fields::Pending>>> {};
template <>
struct Description<PartFile> : Record<Kept<"file", &PartFile::file>, Kept<"sum", &PartFile::sum>> {
};
template <>
struct Description<SnapshotFile>
    : Record<AlwaysNumber<"schema", kSnapshotSchema>,
             Kept<"log", &SnapshotFile::log>,
             Kept<"search", &SnapshotFile::search>,
             Sparse<"nodes", &SnapshotFile::nodes>,
             Sparse<"edges", &SnapshotFile::edges>,
             Sparse<"kept", &SnapshotFile::kept, snapshot_fields::Bytes>,
             Sparse<"pools", &SnapshotFile::pools>,
             Sparse<"kept_file", &SnapshotFile::kept_file>> {};

namespace {

std::string sealed(const SnapshotFile& file) {
  std::string text = Codec<SnapshotFile>::write(file).dump();
  const Hash128 sum = hash128(text);
  text.pop_back();
  text += kSumKey;
  text += sum.hex();
  text += "\"}\n";
  return text;
}

/// A file beside the snapshot `path`, as of a line of the log.
std::filesystem::path part_of(const std::filesystem::path& path, const std::string& name) {
  return path.parent_path() / name;
}

void require_part(const JsonCursor& at, const std::string& name, std::string_view suffix) {
  if (name.find('/') != std::string::npos || !name.ends_with(suffix))
    at.at("file").fail("a file ..." + std::string(suffix) + " beside this one");
}

/// Bytes of a part after which memory is given back.
constexpr std::size_t kPagedOut = std::size_t{1} << 23U;

/// Written piece by piece: neither it nor the blocks that it is made of are in memory as a whole.
PartFile write_part(const std::filesystem::path& path,
                    const std::string& name,
                    bool sync,
                    const std::function<void(const StrategyState::Sink&)>& write) {
  AtomicFile file(part_of(path, name));
  PieceHasher sum;
  std::size_t since = 0;
  write([&](std::string_view piece) {
    file.write(piece);
    sum.add(piece);
    since += piece.size();
    if (since < kPagedOut) return;
    page_out_blocks();
    since = 0;
  });
  file.commit(sync);
  page_out_blocks();
  return {.file = name, .sum = sum.digest()};
}

void keep(StrategyState& state, const SnapshotParts& parts) {
  state(parts.links);
  if (parts.keep) parts.keep(state);
}

/// What keep() wrote.
StrategyState kept_in(SnapshotFile& file, const JsonCursor& at, std::uint32_t nodes) {
  if (!file.kept_file) {
    const auto bytes = std::make_shared<const std::string>(std::move(file.kept));
    return {[bytes] { return std::string_view(*bytes); }, bytes->size(), nodes, at.file()};
  }
  require_part(at.at("kept_file"), file.kept_file->file, kKeptSuffix);
  const auto from = std::make_shared<const FileReader>(part_of(at.file(), file.kept_file->file));
  from->require(file.kept_file->sum);
  const auto next = [from, pieces = from->pieces(from->size())] { return pieces(); };
  return {next, from->size(), nodes, from->file().string()};
}

Graph graph_in(const SnapshotFile& file, const JsonCursor& at) {
  if (file.pools) {
    require_part(at.at("pools"), file.pools->file, kPoolsSuffix);
    return read_pools(part_of(at.file(), file.pools->file), file.pools->sum);
  }
  return Graph::from_rows({.nodes = file.nodes.size(),
                           .edges = file.edges.size(),
                           .key = [&](std::uint32_t i) { return file.nodes[i].key; },
                           .node = [&](std::uint32_t i) { return file.nodes[i]; },
                           .edge = [&](std::uint32_t i) { return file.edges[i]; }},
                          at.file());
}

/// Whether a file beside the snapshot is a part of one, or what was left of the writing of one.
bool is_part(std::string_view file, std::string_view stem) {
  if (file.starts_with('.')) return file.substr(1).starts_with(stem) && file.ends_with(".tmp");
  return file.starts_with(stem) && (file.ends_with(kPoolsSuffix) || file.ends_with(kKeptSuffix));
}

}  // namespace

void save_snapshot(const SnapshotParts& parts, const std::filesystem::path& path, bool sync) {
  const bool large = parts.graph.edge_count() > kMostReadableEdges;
  const std::string stem = path.stem().string() + ".";
  const std::string name = stem + std::to_string(parts.log.lines);
  SnapshotFile file{.log = parts.log, .search = parts.state};
  if (large) {
    file.pools =
        write_part(path, name + std::string(kPoolsSuffix), sync,
                   [&](const StrategyState::Sink& sink) { write_pools(parts.graph, sink); });
    file.kept_file = write_part(path, name + std::string(kKeptSuffix), sync,
                                [&](const StrategyState::Sink& sink) {
                                  StrategyState state(sink);
                                  keep(state, parts);
                                  state.finish();
                                });
  } else {
    for (std::uint32_t i = 0; i < parts.graph.node_count(); ++i)
      file.nodes.push_back({parts.graph[NodeId{i}], parts.graph.key(NodeId{i})});
    for (std::uint32_t i = 0; i < parts.graph.edge_count(); ++i)
      file.edges.push_back(parts.graph[EdgeId{i}]);
    StrategyState state;
    keep(state, parts);
    file.kept = state.take();
  }
  write_file_atomically(path, sealed(file), sync);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path(), ignored)) {
    const std::string other = entry.path().filename().string();
    if (is_part(other, stem) && (!large || !other.starts_with(name + ".")))
      std::filesystem::remove(entry.path(), ignored);
  }
}

void EdgeTexts::add(EdgeId edge, const std::string& text) {
  const auto number = static_cast<std::uint32_t>(texts_.size());
  const auto [it, fresh] = numbers_.try_emplace(text, number);
  if (fresh) texts_.push_back(text);
  std::uint32_t distance = index(edge) - std::exchange(last_, index(edge));
  std::uint32_t text_number = it->second;
  StrategyState row;
  row(distance, text_number);
  edges_ += row.take();
}

void EdgeTexts::for_each(const std::function<void(EdgeId, const std::string&)>& use) const {
  StrategyState rows(edges_, 0, "links");
  for (std::uint32_t edge = 0; !rows.at_end();) {
    std::uint32_t distance = 0, text = 0;
    rows(distance, text);
    edge += distance;
    use(EdgeId{edge}, texts_.at(text));
  }
}

void EdgeTexts::keep(StrategyState& state) {
  state(edges_, last_, texts_);
  for (std::uint32_t i = 0; state.reads() && i < texts_.size(); ++i) numbers_[texts_[i]] = i;
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
  Snapshot out{.log = file.log, .graph = graph_in(file, c), .state = std::move(file.search)};
  out.kept = kept_in(file, c, out.graph.node_count());
  out.kept(out.links);
  return out;
}

std::optional<Snapshot> load_snapshot(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  return decode_snapshot(read_text_file(path.string(), std::size_t{4} << 30U, path.string()),
                         path.string());
}

}  // namespace warpath
