#include "engine/search/strategy_state.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "engine/base/error.h"

using namespace warpath;

namespace {

/// Something of every kind.
struct Everything {
  std::vector<std::string> texts;
  std::map<std::uint32_t, std::optional<double>> numbers;
  std::vector<NodeId> nodes;
  Hash128 hash;
  void keep(StrategyState& state) { state(texts, numbers, nodes, hash); }
  bool operator==(const Everything&) const = default;
};

Everything everything() {
  Everything out{.texts = {"", "short", std::string(600'000, 'x')},
                 .numbers = {{1, std::nullopt}, {300, 0.1}},
                 .nodes = {NodeId{5}, kNoNode},
                 .hash = hash128("hash")};
  out.texts.resize(100'000, "again");
  return out;
}

/// Gives `bytes` in pieces of that size.
StrategyState::Source in_pieces(const std::string& bytes, std::size_t size) {
  return [&bytes, size, at = std::size_t{0}]() mutable {
    const std::string_view piece = std::string_view(bytes).substr(at, size);
    at += piece.size();
    return piece;
  };
}

}  // namespace

TEST_SUITE_BEGIN("strategy_state");

TEST_CASE("what is written in pieces is what is written at once, and is read in any pieces") {
  Everything all = everything();
  StrategyState whole;
  whole(all);
  const std::string bytes = whole.take();
  std::string joined;
  std::size_t pieces = 0;
  StrategyState state([&](std::string_view piece) { joined += piece, ++pieces; });
  state(all);
  state.finish();
  CHECK(joined == bytes);
  CHECK(pieces > 2);
  for (const std::size_t size : {std::size_t{1}, std::size_t{7}, bytes.size() - 1, bytes.size()}) {
    CAPTURE(size);
    StrategyState reader(in_pieces(bytes, size), bytes.size(), 6, "state");
    Everything read;
    reader(read);
    reader.require_end();
    CHECK(read == all);
  }
}

TEST_CASE("pieces that end too early or are of something else are refused") {
  Everything all{.texts = {"text", "more"},
                 .numbers = {{7, 0.5}},
                 .nodes = {NodeId{5}},
                 .hash = hash128("hash")};
  StrategyState whole;
  whole(all);
  const std::string bytes = whole.take();
  for (std::size_t left = 0; left < bytes.size(); ++left) {
    CAPTURE(left);
    const std::string cut = bytes.substr(0, left);
    for (const std::uint64_t said : {cut.size(), bytes.size()}) {
      StrategyState reader(in_pieces(cut, 3), said, 6, "state");
      CHECK_THROWS_AS(reader(all), Error);
    }
  }
  StrategyState longer(in_pieces(bytes, 3), bytes.size() + 1, 6, "state");
  longer(all);
  CHECK_THROWS_AS(longer.require_end(), Error);
}

TEST_SUITE_END();
