#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "runners/cuda/compile/availability.h"
#include "tests/experiments/program.h"
#include "tests/experiments/twice_spec.h"

using namespace warpath::testing;
using nlohmann::json;
using Words = std::vector<std::string>;

namespace {

constexpr const char* kKernel =
    "extern \"C\" __global__ void twice(float* y, const float* x, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i >= n) return;\n"
    "  float sum = 0.0f;\n"
    "  for (int k = 0; k < 2; ++k) sum += x[i];\n"
    "  y[i] = sum;\n"
    "}\n";

/// A spec in `folder` whose kernel has a loop and a block that may change.
std::string spec_in(const TemporaryFolder& folder) {
  return twice_spec(folder, kKernel, 1003);
}

ProgramResult apply(const TemporaryFolder& folder, const Words& more) {
  Words words{"apply",
              "--input",
              spec_in(folder),
              "--runner",
              "host",
              "--json",
              folder / "lines.jsonl",
              "--set",
              "host.timing_seconds=0.005"};
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words);
}

std::vector<json> rungs(const TemporaryFolder& folder) {
  std::vector<json> out;
  for (const std::string& line : lines_of(read_file(folder / "lines.jsonl")))
    out.push_back(json::parse(line));
  return out;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE_BEGIN("apply");

TEST_CASE("a path is carried out step by step, each rung verified and timed beside the baseline") {
  const TemporaryFolder folder;
  const ProgramResult result =
      apply(folder, {"--moves", "unroll_loops(factor=2); change_block_sizes(block_x=128)",
                     "--outdir", folder / "out", "--show", "diff"});
  CAPTURE(result.err);
  CHECK(result.code == 0);
  CHECK(contains(result.out, "CPU timings"));
  CHECK(contains(result.out, "+  #pragma unroll 2"));
  const std::vector<json> lines = rungs(folder);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].at("baseline") == true);
  CHECK(lines[1].at("step") == "unroll_loops@loop:0(factor=2)");
  for (const json& line : lines) {
    CHECK(line.at("status") == "ok");
    CHECK(line.at("speedup").get<double>() > 0);
    CHECK(line.at("speedup_over_previous").get<double>() > 0);
    CHECK(line.at("refusal") == "");
  }
  for (const char* file : {"00_baseline.cu", "01_unroll_loops.cu", "01_unroll_loops.diff",
                           "02_change_block_sizes.json", "ladder.txt"}) {
    CHECK(std::filesystem::exists(folder / ("out/" + std::string(file))));
  }
}

TEST_CASE("a refused step ends the path with its reason, or is passed over") {
  const TemporaryFolder folder;
  const ProgramResult ended =
      apply(folder, {"--moves", "unroll_loops@loop:7; change_block_sizes(block_x=128)"});
  CHECK(ended.code == 64);
  CHECK(contains(ended.err, "step 1"));
  CHECK(contains(ended.err, "loop:7"));
  CHECK(rungs(folder).size() == 2);
  const ProgramResult went_on = apply(
      folder, {"--moves", "unroll_loops@loop:7; change_block_sizes(block_x=128)", "--keep-going"});
  CHECK(went_on.code == 2);
  REQUIRE(rungs(folder).size() == 3);
  CHECK(rungs(folder)[2].at("status") == "ok");
}

TEST_CASE("patches come before moves, and a wrong one is seen") {
  const TemporaryFolder folder;
  write_file(folder / "good.txt",
             "<<<<<<< SEARCH\n  for (int k = 0; k < 2; ++k) sum += x[i];\n=======\n  sum = x[i] + "
             "x[i];\n>>>>>>> REPLACE\n");
  write_file(
      folder / "wrong.txt",
      "<<<<<<< SEARCH\n  sum = x[i] + x[i];\n=======\n  sum = 3.0f * x[i];\n>>>>>>> REPLACE\n");
  const ProgramResult result = apply(folder, {"--patch", folder / "good.txt", folder / "wrong.txt",
                                              "--moves", "change_block_sizes(block_x=32)"});
  CAPTURE(result.err);
  CHECK(result.code == 2);
  const std::vector<json> lines = rungs(folder);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1].at("status") == "ok");
  CHECK(lines[2].at("status") == "wrong_result");
  const ProgramResult again = apply(folder, {"--patch", folder / "wrong.txt"});
  CHECK(again.code == 64);
  CHECK(contains(again.err, "block 1 of 1, line 1"));
}

TEST_CASE("every instance of a move is tried from the same rung") {
  const TemporaryFolder folder;
  const ProgramResult result = apply(folder, {"--moves", "change_block_sizes(block_x=128)",
                                              "--each", "unroll_loops", "--most", "2"});
  CHECK(result.code == 0);
  const std::vector<json> lines = rungs(folder);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1].at("aside") == false);
  CHECK(lines[2].at("aside") == true);
  CHECK(lines[3].at("move") == "unroll_loops");
}

TEST_CASE("every move says what it lists, or why nothing") {
  const TemporaryFolder folder;
  const ProgramResult result = apply(folder, {"--each", "all", "--most", "0"});
  CHECK(result.code == 0);
  CHECK(rungs(folder).size() == 1);
  std::istringstream lines(result.out.substr(result.out.find("move ")));
  std::string line;
  std::getline(lines, line);
  int offering = 0, declining = 0;
  while (std::getline(lines, line) && !line.empty()) {
    CAPTURE(line);
    std::istringstream words(line);
    std::string move, rest;
    int instances = -1;
    words >> move >> instances;
    std::getline(words >> std::ws, rest);
    CHECK(instances >= 0);
    CHECK(rest.size() > 3);  // a site or a reason
    (instances > 0 ? offering : declining) += 1;
  }
  CHECK(offering > 3);
  CHECK(declining > 10);
}

TEST_CASE("what a person gets wrong is named") {
  const TemporaryFolder folder;
  CHECK(contains(apply(folder, {"--moves", "unrol_loops"}).err, "did you mean unroll_loops"));
  CHECK(contains(apply(folder, {"--moves", "unroll_loops(factor)"}).err, "unroll_loops(factor)"));
  CHECK(contains(apply(folder, {"--show", "all"}).err, "source or diff"));
  CHECK(contains(apply(folder, {"--each", "nothing"}).err, "--each"));
  CHECK(contains(apply(folder, {"--patch", folder / "absent.txt"}).err, "absent.txt"));
}

TEST_CASE("without a GPU a path is compiled and judged by text and code") {
  if (!warpath::cuda::probe_platform().nvrtc_problem.empty()) return;
  const TemporaryFolder folder;
  const ProgramResult result =
      run_program({"apply", "--input", spec_in(folder), "--runner", "compile:sm_80", "--moves",
                   "unroll_loops", "--set", "cuda.cache_mib=0"});
  CAPTURE(result.err);
  CHECK(result.code == 0);
  CHECK(contains(result.out, "registers"));
  CHECK(contains(result.out, "A100 (assumed)"));
  CHECK(run_program({"apply", "--input", spec_in(folder), "--runner", "compile:sm_1"}).code == 64);
}

TEST_CASE("the moves are listed with parameters and an example") {
  const ProgramResult all = run_program({"moves", "--brief"});
  CHECK(all.code == 0);
  CHECK(contains(all.out, "unroll_loops\n"));
  const ProgramResult one = run_program({"moves", "unroll_loops"});
  CHECK(contains(one.out, "factor: 0, 1, 2"));
  CHECK(contains(one.out, "before\n"));
  CHECK(contains(one.out, "#pragma unroll"));
  CHECK_FALSE(contains(one.out, "set_tunable"));
  CHECK(run_program({"moves", "no_such_move"}).code == 64);
}

TEST_SUITE_END();
