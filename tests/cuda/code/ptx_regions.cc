#include "runners/cuda/code/ptx_regions.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/json/json_reader.h"

using namespace warpath::cuda;

namespace {

/// The text must outlive the graph's making only.
RegionGraph graph_of_text(const std::string& text,
                          const PtxLaunch& launch,
                          const RegionRates& rates = {}) {
  std::string why;
  const auto module = parse_ptx(text, why);
  REQUIRE_MESSAGE(module.has_value(), why);
  return region_graph(module->functions.front(), launch, rates);
}

RegionGraph graph_of(const std::string& name,
                     const PtxLaunch& launch,
                     const RegionRates& rates = {}) {
  const std::string path = std::string(WARPATH_SOURCE_ROOT) + "/tests/data/ptx/" + name + ".ptx";
  return graph_of_text(warpath::read_text_file(path, 1 << 20, path), launch, rates);
}

bool has_edge(const RegionGraph& graph, int from, int to, const std::string& kind) {
  return std::ranges::find(graph.edges, RegionEdge{from, to, kind}) != graph.edges.end();
}

/// A loop over `body` around one counter: start, step and test as given.
double trips_of(const std::string& start,
                const std::string& step,
                const std::string& test,
                const std::string& branch) {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 "
      "k_param_0)\n{\n.reg .b32 %r<9>;\n.reg .pred %p<9>;\n"
      "ld.param.u32 %r1, [k_param_0];\nmov.u32 %r2, " +
      start + ";\n$L:\n" + step + "\n" + test + "\n" + branch + "\nret;\n}\n";
  const RegionGraph graph = graph_of_text(text, {.parameters = {{0, 100}}});
  REQUIRE(graph.loops.size() == 1);
  return graph.loops[0].trips.value_or(-1);
}

}  // namespace

TEST_SUITE_BEGIN("ptx_regions");

TEST_CASE("a copy kernel's loop, bytes and instructions equal hand counts") {
  // 1,000,000 elements by 100 blocks of 256: the first thread does ceil(1e6 / 25600) = 40.
  const RegionGraph graph =
      graph_of("copy", {.parameters = {{2, 1000000}}, .block = {256, 1, 1}, .grid = {100, 1, 1}},
               {{"dram", 4e12}});
  REQUIRE(graph.loops.size() == 1);
  CHECK(graph.loops[0].trips.value() == 40);
  REQUIRE(graph.regions.size() == 3);
  CHECK(graph.regions[1].classes.at("global_load") == 1);
  CHECK(graph.regions[1].classes.at("global_store") == 1);
  CHECK(graph.bytes("global_load") == 40 * 16);
  CHECK(graph.bytes("global_store") == 40 * 16);
  CHECK(graph.operations("instructions") == 11 + 40 * 8 + 1);
  CHECK(graph.operations("fp32") == 0);
  CHECK(graph.regions[1].time_ns.at("dram") == doctest::Approx(25600 * 40 * 32 / 4e12 * 1e9));
  CHECK(graph.critical_ns == doctest::Approx(graph.regions[1].longest_ns));
  CHECK(has_edge(graph, 0, 1, "flow"));
  CHECK(has_edge(graph, 0, 2, "flow"));
  CHECK(has_edge(graph, 1, 1, "back"));
  CHECK(has_edge(graph, 1, 2, "flow"));
  CHECK(graph.edges.size() == 4);
  CHECK(graph.warnings.empty());
}

TEST_CASE("a tiled product's nested loops, barriers, bytes and operations equal hand counts") {
  const RegionGraph graph =
      graph_of("gemm", {.parameters = {{3, 512}}, .block = {16, 16, 1}, .grid = {4, 4, 1}});
  REQUIRE(graph.loops.size() == 2);
  CHECK(graph.loops[0].trips.value() == 32);
  CHECK(graph.loops[1].trips.value() == 16);
  CHECK(graph.loops[1].parent == 0);
  CHECK(graph.loops[1].depth == 2);
  CHECK(graph.bytes("global_load") == 32 * 8);
  CHECK(graph.bytes("global_store") == 4);
  CHECK(graph.bytes("shared_store") == 32 * 8);
  CHECK(graph.bytes("shared_load") == 32 * 16 * 8);
  CHECK(graph.operations("fp32") == 2 * 512);
  // entry; stage to the barrier; counter; inner; barrier; test; store
  REQUIRE(graph.regions.size() == 7);
  CHECK(graph.regions[1].ends_by == "barrier");
  CHECK(graph.regions[3].executions == 512);
  CHECK(graph.regions[4].ends_by == "barrier");
  CHECK(has_edge(graph, 1, 2, "barrier"));
  CHECK(has_edge(graph, 3, 3, "back"));
  CHECK(has_edge(graph, 5, 1, "back"));
}

TEST_CASE("an asynchronous pipeline's copies, waits and tensor operations equal hand counts") {
  const RegionGraph graph = graph_of("async", {});
  REQUIRE(graph.loops.size() == 1);
  CHECK(graph.loops[0].trips.value() == 64);
  CHECK(graph.bytes("async_copy") == 16 + 64 * 16);
  CHECK(graph.bytes("shared_load") == 64 * (16 + 8));
  CHECK(graph.operations("tensor") == 64 * 2.0 * 16 * 8 * 16 / 32);
  CHECK(graph.bytes("global_store") == 16);
  // entry with the first copy; copy to the wait; barrier; product to the barrier; test; last wait;
  // store
  REQUIRE(graph.regions.size() == 7);
  CHECK(graph.regions[1].ends_by == "async_wait");
  CHECK(has_edge(graph, 0, 1, "async_dep"));
  CHECK(has_edge(graph, 1, 1, "async_dep"));
  CHECK(has_edge(graph, 1, 2, "async_wait"));
  CHECK(has_edge(graph, 1, 5, "async_dep"));
  CHECK(graph.warnings.empty());
}

TEST_CASE(
    "trip counts follow the comparison, its sides, the step's sign and the sense of the branch") {
  const std::string up = "add.s32 %r2, %r2, 3;", down = "sub.s32 %r2, %r2, 7;";
  CHECK(trips_of("0", up, "setp.lt.s32 %p1, %r2, %r1;", "@%p1 bra $L;") == 34);
  CHECK(trips_of("0", up, "setp.le.s32 %p1, %r2, 99;", "@%p1 bra $L;") == 34);
  CHECK(trips_of("0", up, "setp.ge.s32 %p1, %r2, %r1;", "@!%p1 bra $L;") == 34);
  CHECK(trips_of("0", up, "setp.gt.s32 %p1, %r1, %r2;", "@%p1 bra $L;") == 34);
  CHECK(trips_of("100", down, "setp.gt.s32 %p1, %r2, 0;", "@%p1 bra $L;") == 15);
  // tested before the step
  CHECK(trips_of("0", "setp.lt.s32 %p1, %r2, 99;", up, "@%p1 bra $L;") == 34);
  CHECK(trips_of("100", up, "setp.lt.s32 %p1, %r2, %r1;", "@%p1 bra $L;") == 1);
  // never equal: no count is made up
  CHECK(trips_of("0", up, "setp.ne.s32 %p1, %r2, %r1;", "@%p1 bra $L;") == -1);
  CHECK(trips_of("0", "shl.b32 %r2, %r2, 1;", "setp.lt.s32 %p1, %r2, %r1;", "@%p1 bra $L;") == -1);
}

TEST_CASE("what is compared may lag behind the counter by what the loop does not change") {
  CHECK(trips_of("0", "add.s32 %r2, %r2, 4;\nadd.s32 %r3, %r2, -100;", "setp.ne.s32 %p1, %r3, 0;",
                 "@%p1 bra $L;") == 25);
  CHECK(trips_of("0", "add.s32 %r3, %r1, %r2;\nadd.s32 %r2, %r2, -4;", "setp.gt.s32 %p1, %r3, 0;",
                 "@%p1 bra $L;") == 26);
  // two that depend on each other
  CHECK(trips_of("0", "add.s32 %r2, %r3, 1;\nadd.s32 %r3, %r2, 1;", "setp.ne.s32 %p1, %r3, 0;",
                 "@%p1 bra $L;") == -1);
}

TEST_CASE("the remainder of an unrolled loop does not run where nothing remains") {
  CHECK(trips_of("0", "add.s32 %r2, %r2, -1;", "setp.ne.s32 %p1, %r2, 0;", "@%p1 bra $L;") == 0);
  CHECK(trips_of("3", "add.s32 %r2, %r2, -1;", "setp.ne.s32 %p1, %r2, 0;", "@%p1 bra $L;") == 3);
}

TEST_CASE("a loop without a known bound is named and counts once") {
  const RegionGraph graph = graph_of("gemm", {});
  CHECK_FALSE(graph.loops[0].trips);
  REQUIRE(graph.warnings.size() == 1);
  CHECK(graph.warnings[0].find("loop 0") != std::string::npos);
  CHECK(graph.operations("fp32") == 2 * 16);
}

TEST_CASE("JSON holds every region and edge, DOT names them") {
  const RegionGraph graph = graph_of("async", {});
  const nlohmann::json json = to_json(graph);
  CHECK(json["regions"].size() == graph.regions.size());
  CHECK(json["edges"].size() == graph.edges.size());
  CHECK(json["loops"][0]["trips"] == 64);
  const std::string dot = to_dot(graph);
  CHECK(dot.find("r1 -> r2 [label=\"async_wait\"]") != std::string::npos);
  CHECK(dot.find("style=dashed") != std::string::npos);
}

TEST_SUITE_END();
