#include <doctest/doctest.h>
#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
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
  explicit Grown(std::uint32_t nodes, int knobs = 8)
      : space(knobs, 4, 12), search(space, options(), 1, LatticeSpace::root_key()) {
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
  [[nodiscard]] SnapshotParts parts(std::uint64_t lines) {
    return {.log = {.lines = lines, .bytes = 10, .chain = hash128("log")},
            .graph = search.graph(),
            .state = search.state(),
            .links = links};
  }
  LatticeSpace space;
  Search search;
  EdgeTexts links;
};

std::vector<fs::path> pools_in(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".pools") out.push_back(entry.path());
  }
  return out;
}

/// How much more memory than before this process had at most during `work`; nullopt where the
/// kernel does not begin anew with the most.
std::optional<std::uint64_t> peak_of(const std::function<void()>& work) {
  const auto status = [](const std::string& key) {
    std::ifstream file("/proc/self/status");
    for (std::string word; file >> word;) {
      std::uint64_t kib = 0;
      if (word == key && file >> kib) return kib << 10U;
    }
    return std::uint64_t{0};
  };
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;  // the most is that of now on
  const std::uint64_t before = status("VmRSS:");
  if (status("VmHWM:") > before + (std::uint64_t{1} << 20U)) return std::nullopt;
  work();
  return std::max(status("VmHWM:"), before) - before;
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
  for (const std::uint32_t edge : {3U, 900U}) grown.links.add(EdgeId{edge}, "unroll(n=2)");
  grown.links.add(EdgeId{901}, "pad()");
  save_snapshot(grown.parts(7), path, false);
  CHECK(pools_in(folder.path()).size() == 1);
  CHECK(fs::file_size(path) < 2000);
  auto loaded = load_snapshot(path);
  REQUIRE(loaded.has_value());
  fs::create_directory(folder.path() / "again");
  save_snapshot(
      {.log = loaded->log, .graph = loaded->graph, .state = loaded->state, .links = loaded->links},
      folder.path() / "again/search_state.json", false);
  for (const char* name : {"search_state.json", "search_state.7.pools", "search_state.7.kept"})
    CHECK(text_of(folder.path() / name) == text_of(folder.path() / "again" / name));
  std::map<EdgeId, std::string> links;
  loaded->links.for_each([&](EdgeId edge, const std::string& text) { links[edge] = text; });
  CHECK(links == std::map<EdgeId, std::string>{{EdgeId{3}, "unroll(n=2)"},
                                               {EdgeId{900}, "unroll(n=2)"},
                                               {EdgeId{901}, "pad()"}});
  Grown twin(9000);  // a space that knows the nodes
  Search again(twin.space, Grown::options(), 1, std::move(loaded->graph), loaded->state, "pools");
  CHECK(again.fingerprint() == grown.search.fingerprint());
  for (int i = 0; i < 200; ++i) {
    const auto a = grown.search.next(), b = again.next();
    REQUIRE((a.has_value() && b.has_value()));
    grown.search.complete(a->sequence, grown.space.evaluate(a->node));
    again.complete(b->sequence, twin.space.evaluate(b->node));
  }
  CHECK(again.fingerprint() == grown.search.fingerprint());
}

TEST_CASE("a snapshot takes no memory that grows with the graph, neither written nor read") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "search_state.json";
  Grown grown(150'000, 12);
  std::vector<std::string> texts(1'000'000, "0123456789");
  SnapshotParts parts = grown.parts(7);
  parts.keep = [&](StrategyState& state) { state(texts); };
  constexpr std::uint64_t kMost = std::uint64_t{6} << 20U;
  std::size_t most = 0;
  write_pools(grown.search.graph(), [&](auto piece) { most = std::max(most, piece.size()); });
  CHECK(most <= std::size_t{1} << 19U);
  const auto saved = peak_of([&] { save_snapshot(parts, path, false); });
  if (!saved) {
    MESSAGE("skipped: this kernel does not tell how much memory a part of a process takes");
    return;
  }
  CHECK(*saved < kMost);
  CHECK(fs::file_size(folder.path() / "search_state.7.pools") > 4 * kMost);
  CHECK(fs::file_size(folder.path() / "search_state.7.kept") > kMost);
  const auto graph = peak_of([&] { static_cast<void>(Graph(grown.search.graph())); });
  const auto loaded = peak_of([&] { static_cast<void>(load_snapshot(path)); });
  CHECK(loaded.value() < graph.value() + 2 * kMost);
}

TEST_CASE("what is kept beside a large graph is refused where it is missing, cut or altered") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "search_state.json";
  Grown grown(9000);
  std::vector<std::uint64_t> numbers(200'000, 300);
  SnapshotParts parts = grown.parts(7);
  parts.keep = [&](StrategyState& state) { state(numbers); };
  save_snapshot(parts, path, false);
  std::vector<std::uint64_t> read;
  auto loaded = load_snapshot(path);
  loaded->kept(read);
  loaded->kept.require_end();
  CHECK(read == numbers);
  const fs::path kept = folder.path() / "search_state.7.kept";
  const std::string good = text_of(kept);
  for (const std::size_t size : {std::size_t{0}, good.size() / 2, good.size() - 1}) {
    put_text(kept, std::string_view(good).substr(0, size));
    CHECK(refusal(path).find("search_state.7.kept") != std::string::npos);
  }
  std::string damaged = good;
  damaged[good.size() - 2] ^= 1;
  put_text(kept, damaged);
  CHECK(refusal(path).find("altered") != std::string::npos);
  fs::remove(kept);
  CHECK(refusal(path).find("search_state.7.kept") != std::string::npos);
}

TEST_CASE("what a process that died while it wrote a snapshot left goes with the next one") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "search_state.json";
  Grown grown(9000);
  save_snapshot(grown.parts(7), path, false);
  put_text(folder.path() / ".search_state.8.pools.tmp", "half");
  put_text(folder.path() / "search_state.8.kept", "half");
  CHECK(refusal(path).empty());
  CHECK(load_snapshot(path)->log.lines == 7);
  save_snapshot(grown.parts(9), path, false);
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 3);
  CHECK(load_snapshot(path)->log.lines == 9);
}

TEST_CASE("the pools of an older snapshot go when a new one is there, also when that is small") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "search_state.json";
  Grown large(9000), larger(9500), small(50);
  save_snapshot(large.parts(7), path, false);
  save_snapshot(larger.parts(8), path, false);
  CHECK(pools_in(folder.path()) == std::vector<fs::path>{folder.path() / "search_state.8.pools"});
  CHECK(load_snapshot(path)->graph.node_count() == larger.search.graph().node_count());
  save_snapshot(small.parts(9), path, false);
  CHECK(pools_in(folder.path()).empty());
  CHECK(load_snapshot(path)->graph.node_count() == small.search.graph().node_count());
}

TEST_CASE("pools that are missing, cut or altered are refused by name") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "search_state.json";
  Grown grown(9000);
  save_snapshot(grown.parts(7), path, false);
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
  std::string bytes;
  write_pools(grown.search.graph(), [&](std::string_view piece) { bytes += piece; });
  for (const std::size_t i : {0, 8, 12, 16, 24, 32}) {
    std::string other = bytes;
    other[i] = static_cast<char>(other[i] + 1);
    put_text(folder.path() / "x.pools", other);
    CHECK_THROWS_AS(static_cast<void>(read_pools(folder.path() / "x.pools", hash128(other))),
                    Error);
  }
}

TEST_SUITE_END();
