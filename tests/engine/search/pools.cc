#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "engine/base/error.h"
#include "engine/plugin/options.h"
#include "engine/run/snapshot.h"
#include "engine/search/pools.h"
#include "tests/support/lattice_space.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using test::LatticeSpace;
using test::TemporaryFolder;
namespace fs = std::filesystem;

TEST_SUITE_BEGIN("pools");

namespace {

std::string text_of(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(out).str();
}

void put_text(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// A search over the toy lattice, `nodes` nodes large, with one evaluation under way.
struct Grown {
  explicit Grown(std::uint32_t nodes)
      : space(8, 4, 12), search(space, options(), 1, LatticeSpace::root_key()) {
    grow(nodes), static_cast<void>(search.next());
  }
  /// Of a search that opens many edges.
  static Options options() {
    Options out;
    out.search.strategy = "mcgs";
    return out;
  }
  void grow(std::uint32_t nodes) {
    while (search.graph().node_count() < nodes) {
      const auto d = search.next();
      REQUIRE(d.has_value());
      search.complete(d->sequence, space.evaluate(d->node));
    }
  }
  [[nodiscard]] Snapshot snapshot(std::uint64_t lines) const {
    return {.log = {.lines = lines, .bytes = 10, .chain = hash128("log")},
            .arenas = search.graph().arenas(),
            .state = search.state()};
  }
  LatticeSpace space;
  Search search;
};

std::vector<fs::path> pools_in(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".pools") out.push_back(entry.path());
  }
  return out;
}

std::string refusal(const fs::path& path) {
  try {
    static_cast<void>(load_snapshot(path));
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE(
    "a large graph is kept as pools, and the search that is loaded goes on as the one that was "
    "saved") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "search_state.json";
  Grown grown(9000);
  REQUIRE(grown.search.graph().edge_count() > kMostReadableEdges);
  const Snapshot before = grown.snapshot(7);
  save_snapshot(before, path, false);
  CHECK(pools_in(folder.path()).size() == 1);
  CHECK(fs::file_size(path) < 2000);
  auto loaded = load_snapshot(path);
  REQUIRE(loaded.has_value());
  CHECK(encode(*loaded) == encode(before));
  Grown twin(9000);  // a space that knows the nodes
  Search again(twin.space, Grown::options(), 1, Graph::from_arenas(loaded->arenas, "pools"),
               loaded->state, "pools");
  CHECK(again.fingerprint() == grown.search.fingerprint());
  for (int i = 0; i < 200; ++i) {
    const auto a = grown.search.next(), b = again.next();
    REQUIRE((a.has_value() && b.has_value()));
    grown.search.complete(a->sequence, grown.space.evaluate(a->node));
    again.complete(b->sequence, twin.space.evaluate(b->node));
  }
  CHECK(again.fingerprint() == grown.search.fingerprint());
}

TEST_CASE("the pools of an older snapshot go when a new one is there, also when that is small") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "search_state.json";
  const Grown large(9000), larger(9500), small(50);
  save_snapshot(large.snapshot(7), path, false);
  save_snapshot(larger.snapshot(8), path, false);
  CHECK(pools_in(folder.path()) == std::vector<fs::path>{folder.path() / "search_state.8.pools"});
  CHECK(load_snapshot(path)->arenas.nodes.size() == larger.search.graph().node_count());
  save_snapshot(small.snapshot(9), path, false);
  CHECK(pools_in(folder.path()).empty());
  CHECK(load_snapshot(path)->arenas.nodes.size() == small.search.graph().node_count());
}

TEST_CASE("pools that are missing, cut or altered are refused by name") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "search_state.json";
  const Grown grown(9000);
  save_snapshot(grown.snapshot(7), path, false);
  const fs::path pools = folder.path() / "search_state.7.pools";
  const std::string good = text_of(pools);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{20}, good.size() / 2, good.size() - 1}) {
    put_text(pools, std::string_view(good).substr(0, size));
    CHECK(refusal(path).find("search_state.7.pools") != std::string::npos);
  }
  for (std::size_t i = 0; i < good.size(); i += 9973) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    put_text(pools, damaged);
    CHECK(refusal(path).find("altered") != std::string::npos);
  }
  fs::remove(pools);
  CHECK(refusal(path).find("search_state.7.pools") != std::string::npos);
}

TEST_CASE("pools of another layout are refused, whatever their sum") {
  const TemporaryFolder folder;
  const Grown grown(100);
  std::string bytes = pools_bytes(grown.search.graph().arenas());
  for (const std::size_t i : {0, 8, 12, 16, 24, 32}) {
    std::string other = bytes;
    other[i] = static_cast<char>(other[i] + 1);
    put_text(folder.path() / "x.pools", other);
    CHECK_THROWS_AS(static_cast<void>(map_pools(folder.path() / "x.pools", hash128(other))), Error);
  }
}

TEST_SUITE_END();
