#include "engine/search/pools.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/file_reader.h"

namespace warpath {
namespace {

static_assert(std::is_trivially_copyable_v<Node> && std::is_trivially_copyable_v<Edge> &&
              std::is_trivially_copyable_v<Hash128>);

struct Head {
  std::array<char, 8> magic{'W', 'P', 'P', 'O', 'O', 'L', 'S', '2'};
  std::uint32_t byte_order = 0x01020304, node_size = sizeof(Node), edge_size = sizeof(Edge),
                reserved = 0;
  std::uint64_t nodes = 0, edges = 0;
};

/// Rows that are written or read at once.
constexpr std::uint32_t kRows = 4096;

template <class T>
std::string_view bytes_of(std::span<const T> items) {
  return {reinterpret_cast<const char*>(items.data()), items.size_bytes()};
}

template <class T>
void write_rows(std::uint32_t count,
                const std::function<T(std::uint32_t)>& row,
                const std::function<void(std::string_view)>& sink) {
  std::vector<T> rows;
  for (std::uint32_t from = 0; from < count; from += static_cast<std::uint32_t>(rows.size())) {
    rows.clear();
    for (std::uint32_t i = from; i < count && rows.size() < kRows; ++i) rows.push_back(row(i));
    sink(bytes_of(std::span<const T>(rows)));
  }
}

/// Those of a file that follow `offset`; near the one that was asked for last they are in memory.
template <class T>
class FileRows {
 public:
  FileRows(const FileReader& file, std::uint64_t offset, std::uint64_t count)
      : file_(file), offset_(offset), count_(count) {}
  T operator()(std::uint32_t i) {
    if (i < first_ || i - first_ >= rows_.size()) {
      first_ = i;
      rows_.resize(std::min<std::uint64_t>(kRows, count_ - i));
      file_.read(offset_ + i * sizeof(T), std::as_writable_bytes(std::span(rows_)));
    }
    return rows_[i - first_];
  }
  [[nodiscard]] std::uint64_t end() const { return offset_ + count_ * sizeof(T); }

 private:
  const FileReader& file_;
  std::uint64_t offset_, count_;
  std::uint32_t first_ = 0;  // of rows_
  std::vector<T> rows_;
};

}  // namespace

void write_pools(const Graph& graph, const std::function<void(std::string_view)>& sink) {
  const Head head{.nodes = graph.node_count(), .edges = graph.edge_count()};
  sink(bytes_of(std::span(&head, 1)));
  write_rows<Hash128>(
      graph.node_count(), [&](std::uint32_t i) { return graph.key(NodeId{i}); }, sink);
  write_rows<Node>(graph.node_count(), [&](std::uint32_t i) { return graph[NodeId{i}]; }, sink);
  write_rows<Edge>(graph.edge_count(), [&](std::uint32_t i) { return graph[EdgeId{i}]; }, sink);
}

Graph read_pools(const std::filesystem::path& path, const Hash128& sum) {
  const FileReader file(path);
  file.require(sum);
  Head head;
  file.read(0, std::as_writable_bytes(std::span(&head, 1)));
  const Head known;
  const bool fits = head.magic == known.magic && head.byte_order == known.byte_order &&
                    head.node_size == known.node_size && head.edge_size == known.edge_size &&
                    head.nodes <= file.size() && head.edges <= file.size();
  FileRows<Hash128> keys(file, sizeof head, head.nodes);
  FileRows<Node> nodes(file, keys.end(), head.nodes);
  FileRows<Edge> edges(file, nodes.end(), head.edges);
  if (!fits || edges.end() != file.size()) {
    throw bad_input(path.string(), "pools of another layout",
                    "those of this program on this kind of machine");
  }
  return Graph::from_rows({.nodes = head.nodes,
                           .edges = head.edges,
                           .key = std::ref(keys),
                           .node = std::ref(nodes),
                           .edge = std::ref(edges)},
                          path.string());
}

}  // namespace warpath
