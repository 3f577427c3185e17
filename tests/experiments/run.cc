#include <doctest/doctest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"

using namespace warpath::testing;
using nlohmann::json;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {

std::string spec_file(const std::string& name = "softmax_scaled") {
  return (source_root() / "specs" / (name + ".json")).string();
}

/// A deterministic search of the synthetic landscape, `more` flags added.
Words search(const TemporaryFolder& out, const Words& more = {}) {
  Words words{"run",      "--input",           spec_file(),       "--runner", "synthetic",
              "--outdir", out.path().string(), "--deterministic", "--set",    "record.sync=never"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

fs::path run_folder(const TemporaryFolder& out) {
  return out.path() / "kernels" / "softmax_scaled";
}

json summary(const TemporaryFolder& out) {
  return json::parse(read_file(run_folder(out) / "best_summary.json"));
}

std::string fingerprint_of(const Words& more) {
  const TemporaryFolder out;
  const ProgramResult result = run_program(search(out, more));
  CAPTURE(result.err);
  REQUIRE((result.code == 0 || result.code == 2));
  return summary(out).at("fingerprint").get<std::string>();
}

std::size_t event_count(const TemporaryFolder& out) {
  return lines_of(read_file(run_folder(out) / "events.jsonl")).size();
}

}  // namespace

TEST_SUITE_BEGIN("run");

TEST_CASE("a run searches, records everything and says what it found") {
  const TemporaryFolder out;
  const ProgramResult result =
      run_program(search(out, {"--budget-builds", "40", "--set", "search.strategy=mcgs"}));
  CAPTURE(result.err);
  CHECK(result.code == 0);
  for (const char* file : {"input_spec.json", "config.json", "environment.json", "device.json",
                           "events.jsonl", "search_state.json", "ledger.csv", "trace.md",
                           "best_summary.json", "baseline/source.cu", "best/source.cu"}) {
    CAPTURE(file);
    CHECK(fs::exists(run_folder(out) / file));
  }
  CHECK(fs::is_symlink(run_folder(out) / "best"));
  const json best = summary(out);
  for (const char* key : {"name", "runner", "device", "baseline_ms", "best_ms", "speedup",
                          "best_key", "builds", "verdict", "fingerprint", "seed"}) {
    CAPTURE(key);
    CHECK(best.contains(key));
  }
  CHECK(best.at("builds") == 40);
  CHECK(best.at("runner") == "synthetic");
  CHECK(best.at("speedup").get<double>() > 1.02);
  const auto lines = lines_of(result.out);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].find("pretended timings") != std::string::npos);
  CHECK(lines[2].find("improved") != std::string::npos);
  CHECK(result.err.find('\r') == std::string::npos);
}

TEST_CASE(
    "one seed gives one fingerprint, however many evaluations are in flight; another seed gives "
    "another") {
  const std::string one = fingerprint_of({"--budget-builds", "60"});
  CHECK(fingerprint_of({"--budget-builds", "60"}) == one);
  CHECK(fingerprint_of({"--budget-builds", "60", "--in-flight", "8", "--set", "synthetic.lanes=8",
                        "--set", "synthetic.delay_ms=2"}) != "");
  CHECK(fingerprint_of({"--budget-builds", "60", "--in-flight", "8"}) == one);
  CHECK(fingerprint_of({"--budget-builds", "60", "--seed", "2"}) != one);
}

TEST_CASE("a run without enough gain exits with 2") {
  const TemporaryFolder out;
  CHECK(run_program(search(out, {"--budget-builds", "5", "--min-gain", "99"})).code == 2);
}

TEST_CASE("a folder that holds a run is refused without --resume, and nothing in it changes") {
  const TemporaryFolder out;
  CHECK(run_program(search(out, {"--budget-builds", "5"})).code != 64);
  const std::string log = read_file(run_folder(out) / "events.jsonl");
  const ProgramResult again = run_program(search(out, {"--budget-builds", "9"}));
  CHECK(again.code == 64);
  CHECK(lines_of(again.err).size() == 1);
  CHECK(again.err.find("--resume") != std::string::npos);
  CHECK(read_file(run_folder(out) / "events.jsonl") == log);
}

TEST_CASE(
    "a run resumed with a larger budget goes on, and with a window of one ends where one run would "
    "have ended") {
  const TemporaryFolder out;
  static_cast<void>(
      run_program(search(out, {"--budget-builds", "13", "--set", "search.window=1"})));
  const ProgramResult resumed =
      run_program({"run", "--resume", "--outdir", out.path().string(), "--budget-builds", "50"});
  CAPTURE(resumed.err);
  CHECK((resumed.code == 0 || resumed.code == 2));
  CHECK(resumed.err.find("resumed after 13") != std::string::npos);
  CHECK(summary(out).at("builds") == 50);
  CHECK(summary(out).at("fingerprint") ==
        fingerprint_of({"--budget-builds", "50", "--set", "search.window=1"}));
}

TEST_CASE("a resumed run keeps its recorded options and refuses others") {
  const TemporaryFolder out;
  static_cast<void>(run_program(search(out, {"--budget-builds", "5", "--seed", "3"})));
  const ProgramResult refused = run_program(search(out, {"--resume", "--seed", "4"}));
  CHECK(refused.code == 64);
  CHECK(refused.err.find("run.seed") != std::string::npos);
  CHECK(run_program({"run", "--resume", "--outdir", out.path().string(), "--budget-builds", "8"})
            .code != 64);
  CHECK(summary(out).at("seed") == 3);
}

TEST_CASE(
    "an interrupted run saves, says how to resume, and resumes to the graph of an uninterrupted "
    "one") {
  const Words slow{"--budget-builds", "120", "--set", "synthetic.delay_ms=10"};
  const std::string uninterrupted = fingerprint_of(slow);
  for (const int signals : {1, 2}) {
    CAPTURE(signals);
    const TemporaryFolder out;
    RunningProgram program(search(out, slow));
    REQUIRE(program.wait_until(
        [&] { return fs::exists(run_folder(out) / "events.jsonl") && event_count(out) > 40; }));
    for (int i = 0; i < signals; ++i) program.signal(i == 0 ? SIGINT : SIGTERM);
    const ProgramResult result = program.finish();
    CAPTURE(result.err);
    CHECK(result.code == 3);
    CHECK(result.err.find("--resume") != std::string::npos);
    CHECK(result.out.find("interrupted") != std::string::npos);
    CHECK(summary(out).at("builds") < 120);
    const ProgramResult resumed = run_program(
        search(out, {"--resume", "--budget-builds", "120", "--set", "synthetic.delay_ms=10"}));
    CAPTURE(resumed.err);
    CHECK((resumed.code == 0 || resumed.code == 2));
    CHECK(summary(out).at("builds") == 120);
    CHECK(summary(out).at("fingerprint") == uninterrupted);
  }
}

TEST_CASE("a run whose terminal goes away saves like an interrupted one") {
  std::signal(SIGHUP, SIG_DFL);  // where nohup started the tests, the program would inherit that
  const TemporaryFolder out;
  RunningProgram program(
      search(out, {"--budget-builds", "5000", "--set", "synthetic.delay_ms=20"}));
  REQUIRE(program.wait_until(
      [&] { return fs::exists(run_folder(out) / "events.jsonl") && event_count(out) > 10; }));
  program.signal(SIGHUP);
  const ProgramResult result = program.finish();
  CAPTURE(result.err);
  CHECK(result.code == 3);
  CHECK(result.err.find("--resume") != std::string::npos);
  CHECK(summary(out).at("interrupted") == true);
}

TEST_CASE("a candidate that is told is recorded, and finals that are in keep their say") {
  const TemporaryFolder out;
  REQUIRE(run_program(search(out, {"--budget-builds", "30", "--seed", "3"})).code == 0);
  const json before = summary(out);
  REQUIRE(before.at("finalists").get<int>() > 0);
  const std::size_t events = event_count(out);
  bool better = false;  // than the baseline: only such a one could be a finalist
  for (int value = 0; value < 6 && !better; ++value) {
    for (int k = 0; k < 6 && !better; ++k) {
      const ProgramResult told = run_program(
          {"tell", run_folder(out).string(), "--node", "best", "--move",
           "set_tunable@tunable:k" + std::to_string(k) + "(value=" + std::to_string(value) + ")"});
      const json answer = json::parse(told.out, nullptr, false);
      better = answer.is_object() && answer.value("evaluated", false) &&
               answer.value("speedup", 0.0) > 1;
    }
  }
  REQUIRE(better);
  CHECK(event_count(out) > events);
  const json after = summary(out);
  for (const char* key : {"speedup", "best_key", "best_ms", "baseline_ms", "finalists"})
    CHECK(after.at(key) == before.at(key));
  CHECK(fs::read_symlink(run_folder(out) / "best").filename() ==
        before.at("best_key").get<std::string>());
}

TEST_CASE("a spec that contradicts its kernel is refused before anything is built") {
  const TemporaryFolder folder;
  json spec = json::parse(read_file(spec_file()));
  spec["kernel"]["source_code"] = read_file(source_root() / "specs/softmax_scaled.cu");
  spec["reference"] =
      json{{"host_op", {{"op", "softmax"}, {"operands", {{"x", "x"}, {"out", "o"}}}}}};
  spec["kernel"]["io"]["args"][1]["tensor_spec"]["dtype"] = "float64";
  write_file(folder / "spec.json", spec.dump());
  for (const Words& words :
       {Words{"validate", folder / "spec.json"},
        Words{"run", "--input", folder / "spec.json", "--runner", "host", "--outdir",
              folder / "out"},
        Words{"evaluate", "--input", folder / "spec.json", "--runner", "host"}}) {
    const ProgramResult result = run_program(words);
    CAPTURE(result.err);
    CHECK(result.code == 64);
    CHECK(result.err.find("/kernel/io/args/1/tensor_spec/dtype: got float64, expected float32") !=
          std::string::npos);
  }
  spec["kernel"]["io"]["args"][1]["tensor_spec"]["dtype"] = "float32";
  write_file(folder / "spec.json", spec.dump());
  const ProgramResult result = run_program({"validate", folder / "spec.json"});
  CHECK(result.code == 64);
  CHECK(result.err.find("host_op: got softmax, expected a host operation: one of attention") !=
        std::string::npos);
  CHECK_FALSE(fs::exists(folder / "out"));
}

TEST_CASE("a second process on a run folder is refused") {
  const TemporaryFolder out;
  RunningProgram program(
      search(out, {"--budget-builds", "100000", "--set", "synthetic.delay_ms=20"}));
  REQUIRE(program.wait_until([&] { return fs::exists(run_folder(out) / "events.jsonl"); }));
  const ProgramResult second =
      run_program(search(out, {"--resume", "--set", "synthetic.delay_ms=20"}));
  CAPTURE(second.err);
  CHECK(second.code == 64);
  CHECK(second.err.find("works in") != std::string::npos);
  program.signal(SIGINT);
  CHECK(program.finish().code == 3);
}

TEST_CASE("a batch searches every spec once and ends with a line for each") {
  const TemporaryFolder out;
  const ProgramResult result = run_program(
      {"run", "--input", (source_root() / "specs").string(), "--name", "s*", "--name", "hist256",
       "--runner", "synthetic", "--outdir", out.path().string(), "--budget-builds", "4"});
  CAPTURE(result.err);
  CHECK((result.code == 0 || result.code == 2));
  std::size_t folders = 0;
  for (const auto& entry : fs::directory_iterator(out.path() / "kernels"))
    folders += entry.is_directory() ? 1U : 0U;
  CHECK(folders >= 4);
  CHECK(lines_of(result.out).size() == folders + 2);
  CHECK(result.out.find("hist256") != std::string::npos);
  CHECK(result.out.find("rowscan") == std::string::npos);
}

TEST_CASE(
    "the host runner runs a real kernel, its timings are called CPU timings, and it resumes") {
  const TemporaryFolder out;
  const ProgramResult result =
      run_program({"run", "--input", spec_file(), "--outdir", out.path().string(),
                   "--budget-builds", "2", "--set", "host.timing_seconds=0.02"});
  CAPTURE(result.err);
  CHECK((result.code == 0 || result.code == 2));
  CHECK(summary(out).at("baseline_ok") == true);
  CHECK(summary(out).at("runner") == "host");
  CHECK(result.out.find("CPU timings") != std::string::npos);
  CHECK(result.err.find("CPU timings") != std::string::npos);
  const ProgramResult resumed =
      run_program({"run", "--resume", "--outdir", out.path().string(), "--budget-builds", "3"});
  CAPTURE(resumed.err);
  CHECK((resumed.code == 0 || resumed.code == 2));
  CHECK(summary(out).at("builds") == 3);
}

TEST_CASE("a damaged log is refused with file and line, and left as it is") {
  const TemporaryFolder out;
  static_cast<void>(run_program(search(out, {"--budget-builds", "5"})));
  const fs::path log = run_folder(out) / "events.jsonl";
  std::string text = read_file(log);
  text[text.find('\n') + 20] ^= 1;
  write_file(log, text);
  const ProgramResult result = run_program(search(out, {"--resume", "--budget-builds", "9"}));
  CHECK(result.code == 64);
  CHECK(result.err.find("events.jsonl:2") != std::string::npos);
  CHECK(read_file(log) == text);
}

TEST_SUITE_END();
