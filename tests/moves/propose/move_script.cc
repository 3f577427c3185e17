#include "moves/propose/move_script.h"

#include <doctest/doctest.h>

#include "engine/base/error.h"
#include "register_moves.h"
#include "tests/moves/propose/twice_spec.h"

using namespace warpath;

namespace {

struct Bench {
  std::optional<AppliedStep> apply(const std::string& step) {
    const MoveTable table(registry);
    const std::vector<MoveInstance> script = parse_move_script(step, "--moves");
    REQUIRE(script.size() == 1);
    const Move* const move = table.find(script.front().move);
    REQUIRE(move != nullptr);
    return apply_step(*move, {.spec = own, .variant = variant, .device = device}, script.front(),
                      why);
  }
  const MoveRegistry& registry = registered_moves();
  KernelSpec own = warpath::testing::twice_spec();
  Variant variant = baseline_variant(own);
  DeviceFacts device;
  std::string why;
};

}  // namespace

TEST_SUITE_BEGIN("move_script");

TEST_CASE("steps stand between semicolons or line feeds, blanks and comments count nowhere") {
  const auto script =
      parse_move_script("a; b @ loop:0 ( n = 4, m=2 ) ;\n c()  # not d; e\n\n;", "--moves");
  REQUIRE(script.size() == 3);
  CHECK(script[0] == MoveInstance{"a", "", {}});
  CHECK(script[1] == MoveInstance{"b", "loop:0", {{"m", 2}, {"n", 4}}});
  CHECK(script[2] == MoveInstance{"c", "", {}});
  CHECK(parse_move_script(" \n# nothing\n", "--moves").empty());
  CHECK_THROWS_AS(parse_move_script("a(b)", "--moves"), Error);
}

TEST_CASE("what a step leaves out is the first instance that the move lists and that applies") {
  Bench bench;
  const auto first = bench.apply("unroll_loops");
  REQUIRE(first);
  CHECK(first->instance.text() == "unroll_loops@loop:0(factor=4)");
  const auto other = bench.apply("unroll_loops@loop:1");
  REQUIRE(other);
  CHECK(other->instance.site == "loop:1");
  const auto given = bench.apply("unroll_loops(factor=2)");
  REQUIRE(given);
  CHECK(given->instance.text() == "unroll_loops@loop:0(factor=2)");
}

TEST_CASE("a value that no listed instance has is taken from the move's range") {
  Bench bench;
  const auto step = bench.apply("unroll_loops@loop:1(factor=3)");
  REQUIRE(step);
  CHECK(step->variant.source.find("#pragma unroll 3") != std::string::npos);
}

TEST_CASE("a refusal is the move's own, and says which sites and parameters there are") {
  Bench bench;
  CHECK_FALSE(bench.apply("unroll_loops(factor=5)"));
  CHECK(bench.why.find("5 is no value of factor") != std::string::npos);
  CHECK_FALSE(bench.apply("unroll_loops@loop:7"));
  CHECK(bench.why.find("loop:0, loop:1") != std::string::npos);
  CHECK_FALSE(bench.apply("unroll_loops(times=2)"));
  CHECK(bench.why.find("no parameter times (there is factor)") != std::string::npos);
}

TEST_CASE("moves are found by name") {
  const MoveTable table(registered_moves());
  CHECK(table.find("no_such_move") == nullptr);
  for (const std::string& name : table.names()) CHECK(table.find(name)->name() == name);
}

TEST_SUITE_END();
