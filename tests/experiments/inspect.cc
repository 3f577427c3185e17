#include <doctest/doctest.h>

#include <fstream>

#include "tests/experiments/program.h"

using namespace warpath::testing;

namespace {

/// A run over the synthetic landscape.
std::string synthetic_run(const TemporaryFolder& out, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"run",
                                 "--input",
                                 (source_root() / "specs/softmax_scaled.json").string(),
                                 "--runner",
                                 "synthetic",
                                 "--outdir",
                                 out.path().string()};
  words.insert(words.end(), more.begin(), more.end());
  REQUIRE(run_program(words).code == 0);
  return out / "kernels/softmax_scaled";
}

}  // namespace

TEST_SUITE_BEGIN("inspect");

TEST_CASE(
    "a run, its best node and its baseline can be looked at; unknown and ambiguous nodes are "
    "refused") {
  const TemporaryFolder out;
  const std::string spec = (source_root() / "specs/softmax_scaled.json").string();
  REQUIRE(run_program({"run", "--input", spec, "--runner", "synthetic", "--outdir",
                       out.path().string(), "--budget-builds", "40"})
              .code == 0);
  const std::string run = out / "kernels/softmax_scaled";

  const ProgramResult overview = run_program({"inspect", run});
  CAPTURE(overview.err);
  CHECK(overview.code == 0);
  CHECK(overview.out.find("41 nodes") != std::string::npos);
  CHECK(overview.out.find("seed 1") != std::string::npos);

  const ProgramResult best = run_program({"inspect", run, "best"});
  CHECK(best.code == 0);
  for (const char* part :
       {"path\n", "status    ok", "verdict ", "time ", "diff to the parent", "\nsource\n"}) {
    CAPTURE(part);
    CHECK(best.out.find(part) != std::string::npos);
  }
  const std::string key = best.out.substr(10, 32);
  CHECK(run_program({"inspect", run, key}).out == best.out);
  CHECK(run_program({"inspect", run, key.substr(0, 12)}).out == best.out);
  CHECK(run_program({"inspect", run, "baseline"}).out.find("diff to the parent") ==
        std::string::npos);

  // 41 keys, 16 first digits: some digit begins several.
  int ambiguous = 0;
  for (const char digit : std::string("0123456789abcdef")) {
    const ProgramResult result = run_program({"inspect", run, std::string(1, digit)});
    if (result.code != 64 || result.err.find("more of the key") == std::string::npos) continue;
    ++ambiguous;
    CHECK(lines_of(result.err).size() == 1);
  }
  CHECK(ambiguous > 0);

  CHECK(run_program({"inspect", run, "zz"}).code == 64);
  CHECK(run_program({"inspect", out.path().string()}).code == 64);
  CHECK(run_program({"inspect", out / "absent"}).code == 64);
}

TEST_CASE("a run can be looked at whatever options it was searched with") {
  const TemporaryFolder out;
  const std::string folder = synthetic_run(out, {"--budget-builds", "5"});
  const std::string config = folder + "/config.json";
  std::string text = read_file(config);
  text.replace(text.find("\"c_puct\""), 0, "\"recombination\": 0.0, ");
  std::ofstream(config) << text;
  CHECK(run_program({"inspect", folder}).code == 0);
  CHECK(run_program({"report", folder}).code == 0);
  const ProgramResult resumed =
      run_program({"run", "--resume", "--outdir", out.path().string(), "--budget-builds", "9"});
  CHECK(resumed.code == 64);
  CHECK(lines_of(resumed.err).size() == 1);
  CHECK(resumed.err.find("/options/search/recombination: got 0.0, expected no such option") !=
        std::string::npos);
}

TEST_CASE(
    "sources are shown as the model sees them, with a line over all; absent files are refused") {
  const std::string root = source_root().string();
  const ProgramResult seen = run_program(
      {"inspect", "--parse", root + "/specs/softmax_scaled.cu", root + "/specs/rowscan.cu"});
  CAPTURE(seen.err);
  CHECK(seen.code == 0);
  for (const char* part :
       {"kernel softmax_scaled", "j = 1 to C by 1; reduction max into max_value", "; parallel",
        "; scan + into sum", "2 files, 2 kernels, 2 without opaque span (100.00 %)"}) {
    CAPTURE(part);
    CHECK(seen.out.find(part) != std::string::npos);
  }
  CHECK(run_program({"inspect", "--parse", root + "/specs/no_such.cu"}).code == 64);
  CHECK(run_program({"inspect", "--parse", root + "/specs"}).code == 64);
  CHECK(run_program({"inspect"}).code == 64);
}

TEST_CASE(
    "a report of a profiler is read by the rules, as text and as JSON; files without a launch are "
    "refused") {
  const TemporaryFolder out;
  const std::string report = out / "report.csv";
  std::ofstream(report)
      << "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
         "0,k,Duration,us,10\n0,k,Waves Per SM,,0.25\n";
  const ProgramResult text = run_program({"inspect", "--ncu", report});
  CHECK(text.code == 0);
  CHECK(text.out.starts_with("k: 10 us, "));
  CHECK(text.out.find("finding: low_waves_per_sm") != std::string::npos);
  CHECK(text.out.find("unavailable: ") != std::string::npos);
  const ProgramResult json = run_program({"inspect", "--ncu", report, "--json"});
  CHECK(json.code == 0);
  CHECK(json.out.find("\"low_waves_per_sm\"") != std::string::npos);
  std::ofstream(report) << "nothing\n";
  CHECK(run_program({"inspect", "--ncu", report}).code == 64);
  CHECK(run_program({"inspect", "--ncu", out / "absent"}).code == 64);
}

TEST_SUITE_END();
