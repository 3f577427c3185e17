#include "engine/search/pools.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <span>
#include <type_traits>

#include "engine/base/error.h"

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

/// A file in memory, read only; empty if it cannot be mapped.
class Mapping {
 public:
  explicit Mapping(const std::filesystem::path& file) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    struct stat info{};
    if (::fstat(fd, &info) == 0 && info.st_size > 0) {
      void* const at = ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ,
                              MAP_PRIVATE | MAP_POPULATE, fd, 0);
      if (at != MAP_FAILED)
        bytes_ = {static_cast<const std::byte*>(at), static_cast<std::size_t>(info.st_size)};
    }
    ::close(fd);
  }
  ~Mapping() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

template <class T>
void append(std::string& out, const std::vector<T>& items) {
  out.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
}

template <class T>
std::vector<T> take(std::span<const std::byte>& bytes, std::uint64_t count) {
  std::vector<T> out(count);
  std::memcpy(static_cast<void*>(out.data()), bytes.data(), count * sizeof(T));
  bytes = bytes.subspan(count * sizeof(T));
  return out;
}

}  // namespace

std::string pools_bytes(const Graph::Arenas& arenas) {
  Head head;
  head.nodes = arenas.nodes.size();
  head.edges = arenas.edges.size();
  std::string out;
  out.reserve(sizeof(Head) + head.nodes * (sizeof(Hash128) + sizeof(Node)) +
              head.edges * sizeof(Edge));
  out.append(reinterpret_cast<const char*>(&head), sizeof head);
  append(out, arenas.keys);
  append(out, arenas.nodes);
  append(out, arenas.edges);
  return out;
}

Graph::Arenas map_pools(const std::filesystem::path& file, const Hash128& sum) {
  const Mapping mapping(file);
  std::span<const std::byte> bytes = mapping.bytes();
  Head head;
  if (bytes.size() < sizeof head)
    throw bad_input(file.string(), "", "the pools that a snapshot names");
  const Hash128 own = hash128(bytes);
  if (own != sum) throw bad_input(file.string(), own.hex(), sum.hex() + ": the file was altered");
  std::memcpy(&head, bytes.data(), sizeof head);
  const Head known;
  bytes = bytes.subspan(sizeof head);
  const bool fits =
      head.magic == known.magic && head.byte_order == known.byte_order &&
      head.node_size == known.node_size && head.edge_size == known.edge_size &&
      head.nodes <= bytes.size() && head.edges <= bytes.size() &&
      bytes.size() == head.nodes * (sizeof(Hash128) + sizeof(Node)) + head.edges * sizeof(Edge);
  if (!fits)
    throw bad_input(file.string(), "pools of another layout",
                    "those of this program on this kind of machine");
  Graph::Arenas out;
  out.keys = take<Hash128>(bytes, head.nodes);
  out.nodes = take<Node>(bytes, head.nodes);
  out.edges = take<Edge>(bytes, head.edges);
  return out;
}

}  // namespace warpath
