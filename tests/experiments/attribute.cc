#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/spec/spec_load.h"
#include "experiments/evaluate/attributing.h"
#include "experiments/setup/recorded_run.h"
#include "runners/cuda/compile/availability.h"
#include "tests/experiments/program.h"
#include "tests/experiments/twice_spec.h"
#include "tests/support/recorded_gpu_run.h"

using namespace warpath::testing;
using nlohmann::json;
using Words = std::vector<std::string>;

namespace {

constexpr const char* kFast = "host.timing_seconds=0.01";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE_BEGIN("attribute");

TEST_CASE(
    "a move that makes the kernel faster is effective, in the file, the table and the report") {
  const TemporaryFolder folder;
  const ProgramResult run =
      run_program({"run", "--input", wasteful_spec(folder), "--runner", "host", "--outdir",
                   folder / "out", "--budget-builds", "1", "--finalists", "1", "--proposals",
                   ending_waste(folder), "--attribute", "--set", kFast});
  CAPTURE(run.err);
  CAPTURE(run.out);
  REQUIRE(run.code == 0);
  CHECK(contains(run.out, "effective"));
  const std::filesystem::path kernel = folder / "out/kernels/twice";
  const json written = json::parse(read_file(kernel / "attribution.json"));
  REQUIRE(written.at("moves").size() >= 1);
  const json& first = written.at("moves")[0];
  CHECK(first.at("move") == "set_tunable@tunable:WASTE(value=1)");
  CHECK(first.at("verdict") == "effective");
  CHECK(first.at("without").at("speedup").get<double>() > 1.5);
  CHECK(first.at("without").at("interval")[0].get<double>() > 1);
  CHECK(first.at("without").at("paired") == true);
  CHECK(first.at("without").at("evaluations") == 3);
  CHECK(first.at("reverse_move") == "set_tunable@tunable:WASTE(value=24)");
  CHECK(first.at("reverse").at("key") == first.at("without").at("key"));
  CHECK(written.at("whole").at("status") == "ok");
  CHECK(written.at("control").at("speedup").get<double>() == doctest::Approx(1).epsilon(0.3));
  if (warpath::cuda::probe_platform().nvrtc_problem.empty()) {
    CHECK(written.at("code_arch") == "sm_90a");
    CHECK(written.at("code_decides") == false);
    CHECK(first.at("code").at("realised") == true);
  }

  const ProgramResult report = run_program({"report", kernel.string()});
  CHECK(report.code == 0);
  for (const char* const part :
       {"# twice", "## Path", "## What each move is worth", "set_tunable@tunable:WASTE(value=1)",
        "effective", "## What the code shows", "## Bottleneck before and after",
        "## Difference to the baseline", "CPU timings"}) {
    CAPTURE(part);
    CHECK(contains(report.out, part));
  }
  CHECK(read_file(kernel / "report.md") == report.out);
  const std::string page = read_file(kernel / "report.html");
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(contains(page, "<td>effective</td>"));
  CHECK(page.ends_with("</body></html>\n"));

  // Again, with fewer evaluations and without a look at the code; the run's own files stay as they
  // are.
  const std::string events = read_file(kernel / "events.jsonl");
  const ProgramResult again =
      run_program({"attribute", kernel.string(), "--repeat", "1", "--code", "none"});
  CAPTURE(again.err);
  CHECK(again.code == 0);
  const json second = json::parse(read_file(kernel / "attribution.json"));
  CHECK(second.at("repeat") == 1);
  CHECK(second.at("code_arch") == "");
  CHECK_FALSE(second.at("moves")[0].contains("code"));
  CHECK(read_file(kernel / "events.jsonl") == events);
  CHECK(contains(run_program({"report", kernel.string()}).out,
                 "No code was looked at: --code none."));
}

TEST_CASE(
    "a move that leaves no trace in the code is not realised where the code decides, whatever its "
    "time is") {
  if (!warpath::cuda::probe_platform().nvrtc_problem.empty()) return;
  const TemporaryFolder folder;
  REQUIRE(run_program({"run", "--input", wasteful_spec(folder), "--runner", "host", "--outdir",
                       folder / "out", "--budget-builds", "1", "--finalists", "0", "--proposals",
                       ending_waste(folder), "--set", kFast})
              .code == 0);
  const std::filesystem::path kernel = folder / "out/kernels/twice";
  const ProgramResult told = run_program(
      {"tell", kernel.string(), "--node", "best", "--move", "set_tunable@tunable:UNUSED(value=2)"});
  CAPTURE(told.err);
  CAPTURE(told.out);
  REQUIRE(told.code == 0);
  const std::string key = json::parse(told.out).at("key");
  const ProgramResult result =
      run_program({"attribute", kernel.string(), key, "--repeat", "2", "--code", "sm_90a", "--json",
                   folder / "lines.jsonl", "--set", kFast});
  CAPTURE(result.err);
  CHECK(result.code == 0);
  const json written = json::parse(read_file(kernel / "attribution.json"));
  CHECK(written.at("best") == key);
  CHECK(written.at("code_decides") == true);
  REQUIRE(written.at("moves").size() == 2);
  CHECK(written.at("moves")[0].at("verdict") == "effective");
  CHECK(written.at("moves")[1].at("verdict") == "not_realised");
  CHECK(written.at("moves")[1].at("without").at("status") == "ok");
  CHECK(written.at("moves")[1].at("code").at("difference").empty());
  // The path without it is as good, under all gates.
  const json& rest = written.at("short_path");
  CHECK(rest.at("moves") == json{"set_tunable@tunable:WASTE(value=1)"});
  CHECK(rest.at("left_out") == json{"set_tunable@tunable:UNUSED(value=2)"});
  CHECK(rest.at("ablation").at("status") == "ok");
  CHECK(rest.at("ablation").at("evaluations") == 2);
  CHECK(contains(rest.at("verdict"), "pass"));
  CHECK(rest.at("as_good") == std::filesystem::exists(kernel / "short_kernel.cu"));
  CHECK(rest.at("as_good") == contains(result.out, "): as good, "));
  const auto lines = lines_of(read_file(folder / "lines.jsonl"));
  REQUIRE(lines.size() == 2);
  CHECK(json::parse(lines[1]).at("verdict") == "not_realised");
  CHECK(json::parse(lines[1]).at("repeat") == 2);
  const std::string best = json::parse(read_file(kernel / "best_summary.json")).at("best_key");
  if (best != key)
    CHECK(contains(run_program({"report", kernel.string()}).out, "about another kernel"));
}

TEST_CASE("what a run's kernels include of libraries is there when their code is looked at") {
  if (!warpath::cuda::probe_platform().nvrtc_problem.empty()) return;
  const TemporaryFolder folder;
  json spec = json::parse(read_file(wasteful_spec(folder)));
  std::filesystem::create_directories(folder / "lib/small");
  write_file(folder / "lib/small/twice.cuh",
             "__device__ inline float doubled(float x) { return 2.0f * x; }\n");
  json& kernel = spec["kernel"];
  std::string source = kernel["source_code"];
  source.replace(source.find("2.0f * x[i]"), 11, "doubled(x[i])");
  kernel["source_code"] = "#include <small/twice.cuh>\n" + source;
  kernel["system_include_folders"] = {"lib"};
  write_file(folder / "spec.json", spec.dump());
  const warpath::KernelSpec loaded = warpath::load_specs(folder / "spec.json").front();
  warpath::Variant best = baseline_variant(loaded);
  best.tunables["WASTE"] = 1;
  const std::string run = folder / "run";
  warpath::test::record_gpu_run(run, loaded, best);
  const auto evidence = [&](warpath::RecordedRun::For purpose) {
    const warpath::RecordedRun recorded(run, purpose);
    const warpath::AttributionSetup setup{.run = recorded,
                                          .node = recorded.find("best"),
                                          .runner_text = "cuda",
                                          .options = warpath::default_options(),
                                          .repeat = 1,
                                          .stage = warpath::Stage::screening,
                                          .code = "sm_90a",
                                          .program = std::getenv("WARPATH_PROGRAM")};
    const warpath::MoveRegistry moves("move");
    warpath::test::RecordedDevice device([](const auto&, const auto&) { return 2.0; });
    return attribute(setup, warpath::MoveTable(moves), device, [](const auto&) {}, {}, {})
        ->moves.at(0)
        .code;
  };
  const auto code = evidence(warpath::RecordedRun::For::building);
  REQUIRE(code.has_value());
  CHECK_FALSE(code->difference.empty());
  CHECK_THROWS_AS(static_cast<void>(evidence(warpath::RecordedRun::For::reading)), warpath::Error);
  // Kernels are not built with other headers than those that were measured; looking needs none.
  write_file(folder / "lib/small/twice.cuh", "// another\n");
  const ProgramResult changed = run_program({"attribute", run, "--runner", "host"});
  CHECK(changed.code == 64);
  CHECK(contains(changed.err, "headers that have changed"));
  CHECK(
      run_program({"tell", run, "--node", "best", "--move", "set_tunable@tunable:UNUSED(value=2)"})
          .code == 64);
  CHECK(run_program({"report", run}).code == 0);
}

TEST_CASE("a run of pretended timings is taken apart too, one kernel after the other") {
  const TemporaryFolder folder;
  const std::string spec = (source_root() / "specs/softmax_scaled.json").string();
  REQUIRE(run_program({"run", "--input", spec, "--runner", "synthetic", "--outdir",
                       folder.path().string(), "--budget-builds", "60"})
              .code == 0);
  const std::string run = folder / "kernels/softmax_scaled";
  const ProgramResult result = run_program({"attribute", run, "--code", "none"});
  CAPTURE(result.err);
  CHECK(result.code == 0);
  const json written = json::parse(read_file(folder / "kernels/softmax_scaled/attribution.json"));
  REQUIRE(written.at("moves").size() >= 1);
  int effective = 0;
  for (const json& move : written.at("moves")) {
    if (move.at("without").at("evaluations") > 0) CHECK(move.at("without").at("paired") == false);
    effective += move.at("verdict") == "effective" ? 1 : 0;
  }
  CHECK(effective > 0);
  CHECK(written.at("whole").at("speedup").get<double>() > 1.5);
}

TEST_CASE("what a person gets wrong is named, and nothing is written") {
  const TemporaryFolder folder;
  const std::string spec = (source_root() / "specs/softmax_scaled.json").string();
  REQUIRE(run_program({"run", "--input", spec, "--runner", "synthetic", "--outdir",
                       folder.path().string(), "--budget-builds", "10"})
              .code != 64);
  const std::string run = folder / "kernels/softmax_scaled";
  for (const Words& words :
       {Words{"attribute"}, Words{"attribute", folder / "absent"}, Words{"attribute", run, "zz"},
        Words{"attribute", run, "baseline"}, Words{"attribute", run, "--repeat", "0"},
        Words{"attribute", run, "--stage", "soon"}, Words{"attribute", run, "--runner", "none"},
        Words{"report"}, Words{"report", folder / "absent"}}) {
    CAPTURE(words.back());
    const ProgramResult result = run_program(words);
    CHECK(result.code == 64);
    CHECK(lines_of(result.err).size() == 1);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "kernels/softmax_scaled/attribution.json"));
  CHECK(contains(run_program({"report", run}).out, "Not measured yet"));
  write_file(folder / "kernels/softmax_scaled/attribution.json", "{}");
  CHECK(run_program({"report", run}).code == 64);
}

TEST_SUITE_END();
