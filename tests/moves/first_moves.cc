#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "engine/base/error.h"
#include "engine/spec/spec_load.h"
#include "moves/propose/rule_proposer.h"
#include "register_moves.h"

using namespace warpath;

TEST_SUITE_BEGIN("first_moves");

namespace {

const std::string kRoot = WARPATH_SOURCE_ROOT;

KernelSpec fixture(const std::string& name) {
  for (KernelSpec& spec : load_specs(kRoot + "/tests/data/move_fixtures.json")) {
    if (spec.name == name) return spec;
  }
  throw bad_input("fixture", name, "a name in tests/data/move_fixtures.json");
}

MoveRegistry registry() {
  const MoveRegistry& out = registered_moves();
  return out;
}

std::vector<MoveInstance> listed(const KernelSpec& spec, const std::string& move) {
  const Variant variant = baseline_variant(spec);
  const DeviceFacts device;
  return registry().create("test", move)->enumerate({spec, variant, device});
}

Variant applied(const KernelSpec& spec, const std::string& text) {
  const Variant variant = baseline_variant(spec);
  const DeviceFacts device;
  const MoveInstance instance = MoveInstance::parse(text, "test");
  std::string why;
  const auto out =
      registry().create("test", instance.move)->apply({spec, variant, device}, instance, why);
  CAPTURE(why);
  REQUIRE(out.has_value());
  return *out;
}

std::string without(std::string text, const std::string& part) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.erase(at, part.size());
}

}  // namespace

TEST_CASE("a constant block changes together with the grid that divides by it") {
  const Variant out = applied(fixture("fixed_block"), "change_block_sizes@launch(block_x=64)");
  CHECK(out.launch.block[0].text() == "64");
  CHECK(out.launch.grid[0] == Expression::parse("(n + 63) / 64", "test"));
  CHECK(out.source == baseline_variant(fixture("fixed_block")).source);
}

TEST_CASE("a square block changes shape, nearest shapes first, whole warps only") {
  const std::vector<MoveInstance> shapes = listed(fixture("fixed_square"), "change_block_sizes");
  REQUIRE(shapes.size() > 4);
  for (const MoveInstance& shape : shapes)
    CHECK(shape.parameters.at("block_x") * shape.parameters.at("block_y") % 32 == 0);
  CHECK(std::abs(std::log2(static_cast<double>(shapes[0].parameters.at("block_x") *
                                               shapes[0].parameters.at("block_y")) /
                           256)) == 1);
  const Variant out =
      applied(fixture("fixed_square"), "change_block_sizes@launch(block_x=32,block_y=8)");
  CHECK(out.launch.grid[0].text() == "ceil_div(n, 32)");
  CHECK(out.launch.grid[1].text() == "ceil_div(n, 8)");
}

TEST_CASE("a kernel that writes its block size into its source keeps it") {
  CHECK(listed(fixture("tied_block"), "change_block_sizes").empty());
}

TEST_CASE("a block made of a tunable changes through it") {
  CHECK(applied(fixture("aliased"), "change_block_sizes@launch(T=32)").tunables.at("T") == 32);
}

TEST_CASE("a tunable with many values is stepped by powers of two, one with few takes all") {
  std::map<std::string, std::vector<std::int64_t>> values;
  for (const MoveInstance& i : listed(fixture("aliased"), "set_tunable"))
    values[i.site].push_back(i.parameters.at("value"));
  CHECK(values["tunable:T"] == std::vector<std::int64_t>{160, 96, 192, 64, 256});
  CHECK(values["tunable:UNUSED"] == std::vector<std::int64_t>{3, 1});
}

TEST_CASE("an unroll pragma stands on a line of its own, as far in as its loop") {
  const KernelSpec spec = load_specs(kRoot + "/specs/softmax_scaled.json").front();
  const Variant out = applied(spec, "unroll_loops@loop:0(factor=4)");
  CHECK(out.source.find("\n  #pragma unroll 4\n  for (int j = 1;") != std::string::npos);
  CHECK(without(out.source, "  #pragma unroll 4\n") == spec.source);
}

TEST_CASE("only innermost loops are unrolled, and a bare pragma is left alone") {
  std::set<std::string> sites;
  for (const MoveInstance& i : listed(fixture("crlf_loops"), "unroll_loops")) sites.insert(i.site);
  CHECK(sites == std::set<std::string>{"loop:0", "loop:1", "loop:3", "loop:4"});
  CHECK(listed(fixture("tied_block"), "unroll_loops").empty());
}

TEST_CASE("a pragma in mid-line cuts the line; an old one is changed or taken away") {
  const KernelSpec spec = fixture("crlf_loops");
  CHECK(applied(spec, "unroll_loops@loop:0(factor=2)")
            .source.find("T s = 0; \r\n#pragma unroll 2\r\nfor (int k") != std::string::npos);
  CHECK(applied(spec, "unroll_loops@loop:4(factor=2)")
            .source.find("#pragma unroll 2\r\n\tfor (int k = 0; k < n; ++k) /* the") !=
        std::string::npos);
  CHECK(applied(spec, "unroll_loops@loop:4(factor=0)").source ==
        without(spec.source, "#pragma unroll 8\r\n"));
}

TEST_CASE("loops of kernels that are not launched are left alone") {
  KernelSpec spec = load_specs(kRoot + "/specs/softmax_scaled.json").front();
  const std::size_t loops = listed(spec, "unroll_loops").size();
  REQUIRE(loops > 0);
  const std::string loop = "(float* y) {\n  for (int k = 0; k < 9; ++k) y[k] = 0.0f;\n}\n",
                    own = spec.source;
  spec.source = "__global__ void before" + loop + own + "\n__global__ void after" + loop;
  const std::vector<MoveInstance> seen = listed(spec, "unroll_loops");
  CHECK(seen.size() == loops);
  CHECK(seen.front().site == "loop:1");
  spec.source = "__device__ void helper" + loop + own;
  CHECK(listed(spec, "unroll_loops").size() > loops);
}

TEST_CASE("pointers are qualified as far as roles and aliasing allow") {
  const KernelSpec spec = fixture("fixed_block");
  CHECK(applied(spec, "qualify_pointers@arguments(const=1,restrict=1)")
            .source.find("(float * __restrict__ o, const float * __restrict__ a, const float * "
                         "__restrict__ b, int n)") != std::string::npos);
  CHECK(applied(spec, "qualify_pointers@argument:a(const=1,restrict=0)")
            .source.find("(float *o, const float *a, float *b") != std::string::npos);

  std::set<std::string> texts;
  for (const MoveInstance& i : listed(fixture("aliased"), "qualify_pointers"))
    texts.insert(i.text());
  // may be the output's memory
  CHECK(texts.contains("qualify_pointers@argument:a(const=1,restrict=0)"));
  // a writable pointer is made of it
  CHECK(texts.contains("qualify_pointers@argument:w(const=0,restrict=1)"));
  CHECK(texts.size() == 3);  // and at both
}

TEST_CASE("a label is text and back, and other text is refused") {
  for (const MoveInstance& i : std::vector<MoveInstance>{
           {"m", "", {}},
           {"m", "s", {}},
           {"m", "", {{"a", -1}}},
           {"m n", "loop:0 (x)@%", {{"a,b=", INT64_MIN}, {"c", INT64_MAX}}}}) {
    CAPTURE(i.text());
    CHECK(MoveInstance::parse(i.text(), "test") == i);
  }
  CHECK(MoveInstance{"change_block_sizes", "launch", {{"block_x", 128}}}.text() ==
        "change_block_sizes@launch(block_x=128)");
  for (const std::string text :
       {"", "@", "m@", "m(", "m()", "m(a)", "m(a=)", "m(a=1", "m(a=1,)", "m(a=1,a=2)", "m(a=1)x",
        "m(=1)", "m@s@t", "m(a=9223372036854775808)", "m(a=1.5)", "m s", "m%2", "m(a=1)(b=2)"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(static_cast<void>(MoveInstance::parse(text, "--proposals")), Error);
  }
}

TEST_CASE("labels that differ have keys that differ") {
  std::set<Hash128> keys;
  for (const std::string text :
       {"m", "n", "m@s", "m@t", "m(a=1)", "m(a=2)", "m(b=1)", "m@s(a=1)", "m(a=1,b=1)"}) {
    CHECK(keys.insert(MoveInstance::parse(text, "test").key()).second);
  }
}

TEST_CASE(
    "the proposer goes through moves before sites and sites before parameters, repeats itself and "
    "keeps the spec's constraints") {
  const DeviceFacts device;
  const MoveRegistry moves = registry();
  RuleProposer proposer(moves);
  std::set<std::string> first_of_seed;
  for (const char* name : {"aliased", "fixed_block", "fixed_square", "crlf_loops"}) {
    const KernelSpec spec = fixture(name);
    const Variant variant = baseline_variant(spec);
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const ProposalContext context{{spec, variant, device}, variant_key(variant), nullptr, seed};
      Rng a(seed, "propose"), b(seed, "propose");
      const std::vector<Proposal> out = proposer.propose(context, a),
                                  again = proposer.propose(context, b);
      REQUIRE(out.size() == again.size());
      REQUIRE_FALSE(out.empty());
      first_of_seed.insert(out.front().instance.text());
      std::set<Hash128> keys{context.node_key};
      std::map<std::string, int> rank;
      std::map<std::string, std::map<std::string, double>> heaviest;  // by move and site
      for (std::size_t i = 0; i < out.size(); ++i) {
        CHECK(out[i].instance == again[i].instance);
        if (i > 0) CHECK(out[i].weight <= out[i - 1].weight);
        const int k = ++rank[out[i].instance.move + "@" + out[i].instance.site];
        const double first = heaviest[out[i].instance.move]
                                 .try_emplace(out[i].instance.site, out[i].weight)
                                 .first->second;
        CHECK(out[i].weight == doctest::Approx(first / (k * k)));
        std::string why;
        const auto next =
            moves.create("test", out[i].instance.move)->apply(context.at, out[i].instance, why);
        REQUIRE(next.has_value());
        CHECK(satisfies_constraints(spec, *next, why));
        CHECK(keys.insert(variant_key(*next)).second);
      }
      for (const auto& [move, sites] : heaviest) {
        std::multiset<double> turns;
        const double most = moves.create("test", move)->structural() ? 8 : 1;
        for (const auto& [site, weight] : sites) turns.insert(std::round(most / weight));
        double turn = 0;
        for (const double found : turns) CHECK(found == ++turn);
      }
    }
  }
  CHECK(first_of_seed.size() > 4);
}

TEST_CASE("structural moves come first, two instances of each, and work on known sizes") {
  const KernelSpec spec = load_specs(kRoot + "/specs/softmax_scaled.json").front();
  const Variant naive = baseline_variant(spec);
  const DeviceFacts device{
      .runner = "cuda", .name = "gpu", .arch = "sm_90a", .multiprocessors = 132, .is_gpu = true};
  const MoveRegistry moves = registry();
  Rng rng(1, "propose");
  const std::vector<Proposal> out =
      RuleProposer(moves).propose({{spec, naive, device}, variant_key(naive), nullptr, 1}, rng);
  std::map<std::string, int> structural, other;
  for (const Proposal& p : out) {
    if (!moves.create("test", p.instance.move)->structural()) {
      ++other[p.instance.move];
    } else if (++structural[p.instance.move + "@" + p.instance.site] <= 2 && p.weight > 1) {
      CHECK(other.empty());
    }
  }
  CHECK(structural.size() > 3);
  CHECK(other.size() > 3);

  std::string why;
  const MoveInstance lanes =
      MoveInstance::parse("parallelise_row_loop(cluster=1,lanes=128)", "test");
  const auto move = moves.create("test", lanes.move);
  const auto direct = move->apply({spec, naive, device}, lanes, why);
  REQUIRE(direct.has_value());
  const auto shaped = moves.create("test", "specialise_shape")
                          ->apply({spec, naive, device},
                                  MoveInstance::parse("specialise_shape@shape", "test"), why);
  REQUIRE(shaped.has_value());
  const auto by_steps = move->apply({spec, *shaped, device}, lanes, why);
  REQUIRE(by_steps.has_value());
  CHECK(variant_key(*direct) == variant_key(*by_steps));  // two ways to one node
}

TEST_SUITE_END();
