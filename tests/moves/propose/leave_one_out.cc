#include "moves/propose/leave_one_out.h"

#include <doctest/doctest.h>

#include "register_moves.h"
#include "tests/moves/propose/twice_spec.h"

using namespace warpath;

namespace {

/// A path by hand.
struct Bench {
  MovePath path(const std::string& script) {
    std::vector<Variant> variants{baseline_variant(own)};
    std::vector<MoveInstance> instances;
    for (const MoveInstance& wanted : parse_move_script(script, "test")) {
      std::string why;
      auto step =
          apply_step(*moves().find(wanted.move),
                     {.spec = own, .variant = variants.back(), .device = device}, wanted, why);
      REQUIRE_MESSAGE(step.has_value(), why);
      variants.push_back(step->variant);
      instances.push_back(step->instance);
    }
    return {moves(), own, device, std::move(variants), std::move(instances)};
  }
  const MoveTable& moves() {
    if (!table) table.emplace(registry);
    return *table;
  }
  const MoveRegistry& registry = registered_moves();
  std::optional<MoveTable> table;
  KernelSpec own = warpath::testing::twice_spec();
  DeviceFacts device;
};

}  // namespace

TEST_SUITE_BEGIN("leave_one_out");

TEST_CASE("each move is left out, and the others are carried out again in order") {
  Bench bench;
  const std::string one = "unroll_loops@loop:0(factor=2)", two = "unroll_loops@loop:1(factor=4)",
                    three = "qualify_pointers";
  const MovePath whole = bench.path(one + ";" + two + ";" + three);
  REQUIRE(whole.size() == 3);
  const std::vector<std::string> rest{two + ";" + three, one + ";" + three, one + ";" + two};
  for (std::size_t step = 0; step < 3; ++step) {
    CAPTURE(step);
    const LeftOut left = whole.without(step);
    REQUIRE_MESSAGE(left.variant.has_value(), left.why);
    CHECK(variant_key(*left.variant) == variant_key(bench.path(rest[step]).kernel()));
  }
}

TEST_CASE("several moves are left out together, and leaving out none is the kernel") {
  Bench bench;
  const MovePath whole =
      bench.path("unroll_loops@loop:0(factor=2); qualify_pointers; unroll_loops@loop:1(factor=4)");
  const LeftOut left = whole.without(std::set<std::size_t>{0, 2});
  REQUIRE_MESSAGE(left.variant.has_value(), left.why);
  CHECK(variant_key(*left.variant) == variant_key(bench.path("qualify_pointers").kernel()));
  CHECK(*whole.without(std::set<std::size_t>{}).variant == whole.kernel());
  CHECK(*whole.without(std::set<std::size_t>{0, 1, 2}).variant == whole.before(0));
}

TEST_CASE("a move that is undone by itself leads to the path without it") {
  Bench bench;
  const MovePath path =
      bench.path("unroll_loops@loop:0(factor=2); qualify_pointers; unroll_loops@loop:1(factor=4)");
  const auto reversed = path.reversed(0);
  REQUIRE(reversed.has_value());
  REQUIRE_MESSAGE(reversed->result.variant.has_value(), reversed->result.why);
  CHECK(variant_key(*reversed->result.variant) == variant_key(*path.without(0).variant));
  CHECK(reversed->instance.move == "unroll_loops");
}

TEST_CASE(
    "later moves that need the one that is left out go with it, and are named with the first "
    "reason") {
  Bench bench;
  // Setting a factor where that factor stands changes nothing: the second move needs the first.
  const MovePath path = bench.path("unroll_loops@loop:0(factor=2); unroll_loops@loop:0(factor=0)");
  const LeftOut left = path.without(0);
  REQUIRE(left.variant.has_value());
  CHECK(*left.variant == path.before(0));
  CHECK(left.needing == std::vector<std::string>{"unroll_loops@loop:0(factor=0)"});
  CHECK(left.why.find("unroll_loops@loop:0(factor=0) does not apply without it: ") == 0);
  REQUIRE(path.without(1).variant.has_value());
  CHECK(path.without(1).needing.empty());

  const MovePath longer =
      bench.path("unroll_loops@loop:0(factor=2); unroll_loops@loop:0(factor=0); qualify_pointers");
  REQUIRE(longer.without(0).variant.has_value());
  CHECK(variant_key(*longer.without(0).variant) ==
        variant_key(bench.path("qualify_pointers").kernel()));
}

TEST_CASE("a text that no move made is repeated as its difference, where that fits") {
  Bench bench;
  const MovePath made = bench.path("unroll_loops@loop:0(factor=2)");
  Variant written = made.kernel();
  const std::string line = "y[i] += 1.0f;";
  written.source.replace(written.source.find(line), line.size(), "y[i] = y[i] + 1.0f;");
  Variant further = written;
  further.source.replace(further.source.find("y[i] = y[i]"), 11, "y[i] = 1.0f * y[i]");
  const MoveInstance by_hand{"other", "", {{"text", 1}}};
  const MovePath path(bench.moves(), bench.own, bench.device,
                      {made.before(0), made.kernel(), written, further},
                      {made.instance(0), by_hand, by_hand});
  const LeftOut left = path.without(0);
  REQUIRE_MESSAGE(left.variant.has_value(), left.why);
  CHECK(left.variant->source.find("#pragma unroll") == std::string::npos);
  CHECK(left.variant->source.find("1.0f * y[i] + 1.0f") != std::string::npos);
  const LeftOut gone = path.without(1);  // the next text changes what this one wrote
  REQUIRE(gone.variant.has_value());
  CHECK(*gone.variant == made.kernel());
  CHECK(gone.needing == std::vector<std::string>{"other(text=1)"});
  CHECK_FALSE(path.reversed(1).has_value());
}

TEST_CASE("changes of launch and tunables are repeated without a text") {
  Bench bench;
  Variant other = baseline_variant(bench.own);
  other.launch.block[0] = Expression{128};
  const MovePath unrolled = bench.path("unroll_loops@loop:0(factor=2)");
  Variant both = unrolled.kernel();
  both.launch.block[0] = Expression{128};
  const MovePath path(bench.moves(), bench.own, bench.device,
                      {unrolled.before(0), unrolled.kernel(), both},
                      {unrolled.instance(0), MoveInstance{"other", "", {}}});
  REQUIRE(path.without(0).variant.has_value());
  CHECK(variant_key(*path.without(0).variant) == variant_key(other));
}

TEST_SUITE_END();
