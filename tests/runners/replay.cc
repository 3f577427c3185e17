#include <doctest/doctest.h>

#include <cmath>

#include "engine/base/compression.h"
#include "engine/base/error.h"
#include "engine/spec/spec_load.h"
#include "register_runners.h"
#include "runners/replay/formats.h"
#include "runners/replay/recorded_space.h"
#include "runners/replay/virtual_evaluator.h"
#include "runners/replay/virtual_lab.h"
#include "tests/support/campaign_bench.h"
#include "tests/support/small_space.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using test::put_text;
using test::small_space;
using test::TemporaryFolder;

TEST_SUITE_BEGIN("replay");

namespace {

const std::string kKernelTuner = R"({
"device_name": "D", "kernel_name": "k", "objective": "time",
"tune_params_keys": ["block", "flag", "fixed"],
"tune_params": {"block": [32, 64], "flag": ["a", "b"], "fixed": [3]},
"cache": {
"32,a,3": {"block": 32, "flag": "a", "fixed": 3, "time": 2.0, "times": [1.5, 2.5], "compile_time": 1000, "verification_time": 1, "benchmark_time": 2, "framework_time": 3},
"64,a,3": {"block": 64, "flag": "a", "fixed": 3, "time": 1.0, "times": [1.0, 1.0], "compile_time": 2000, "benchmark_time": 4},
"64,b,3": {"block": 64, "flag": "b", "fixed": 3, "time": "CompilationFailedConfig", "compile_time": 500}}})";

const std::string kT4 = R"({"schema_version": "1.0.0", "metadata": {"device": "D"}, "results": [
{"configuration": {"block": 32, "tile": 1}, "times": {"compilation": 1000, "framework": 2, "validation": 0, "runtimes": [1.5, 2.5]},
 "invalidity": "correct", "measurements": [{"name": "time", "value": 2.0, "unit": "ms"}], "objectives": ["time"]},
{"configuration": {"block": 64, "tile": 2}, "times": {"compilation": 1000, "framework": 2}, "invalidity": "runtime",
 "measurements": [{"name": "time", "value": "RuntimeFailedConfig"}], "objectives": ["time"]}]})";

const std::string kKtt = R"({"Metadata": {"Device": "D", "TimeUnit": "Microseconds"}, "Results": [
{"Configuration": [{"Name": "block", "Value": 32}, {"Name": "tile", "Value": 1}], "Status": "Ok", "TotalDuration": 2000.0, "TotalOverhead": 1e6},
{"Configuration": [{"Name": "block", "Value": 64}, {"Name": "tile", "Value": 1}], "Status": "ValidationFailed", "TotalDuration": 0.0, "TotalOverhead": 1e6}]})";

void check_equal(const RecordedSpace& a, const RecordedSpace& b) {
  REQUIRE(a.axes() == b.axes());
  REQUIRE(a.rows().size() == b.rows().size());
  for (std::size_t i = 0; i < a.rows().size(); ++i) {
    CHECK(a.rows()[i].point == b.rows()[i].point);
    CHECK(a.rows()[i].status == b.rows()[i].status);
    CHECK(a.rows()[i].time_ns == b.rows()[i].time_ns);
    CHECK(a.rows()[i].samples_ns == b.rows()[i].samples_ns);
    CHECK(a.rows()[i].compile_seconds == b.rows()[i].compile_seconds);
  }
}

}  // namespace

TEST_CASE(
    "a Kernel Tuner cache is read: axes by value, constants left out, failures, repeats and "
    "costs") {
  const RecordedSpace space = parse_space(kKernelTuner, "s", "s.json");
  REQUIRE(space.axes() == 2);
  CHECK(space.axis(0).name == "block");
  CHECK(space.axis(0).values == std::vector<std::int64_t>{32, 64});
  CHECK(space.axis(1).texts == std::vector<std::string>{"a", "b"});
  CHECK(space.axis(1).values == std::vector<std::int64_t>{0, 1});
  CHECK(space.device() == "D");
  const std::uint32_t first = space.find(std::vector<Level>{0, 0});
  REQUIRE(first != RecordedSpace::kNone);
  CHECK(space.rows()[first].time_ns == 2e6);
  CHECK(space.rows()[first].samples_ns == std::vector<float>{1.5e6F, 2.5e6F});
  CHECK(space.rows()[first].compile_seconds == doctest::Approx(1));
  CHECK(space.rows()[first].run_seconds == doctest::Approx(0.006));
  CHECK(space.rows()[space.find(std::vector<Level>{1, 1})].status == Status::compile_error);
  CHECK_FALSE(space.legal(std::vector<Level>{0, 1}));
  CHECK(space.best_ns() == 1e6);
}

TEST_CASE("a cache whose run was cut short is read as far as it goes") {
  const std::string cut = kKernelTuner.substr(0, kKernelTuner.size() - 2) + ",";
  check_equal(parse_space(cut, "s", "s.json"), parse_space(kKernelTuner, "s", "s.json"));
}

TEST_CASE("T4 and KTT results are read") {
  const RecordedSpace t4 = parse_space(kT4, "s", "s.json");
  CHECK(t4.rows()[0].time_ns == 2e6);
  CHECK(t4.rows()[0].run_seconds == doctest::Approx(0.006));
  CHECK(t4.rows()[1].status == Status::launch_error);
  const RecordedSpace ktt = parse_space(kKtt, "s", "s.json");
  CHECK(ktt.axes() == 1);
  CHECK(ktt.rows()[0].time_ns == 2e6);
  CHECK(ktt.rows()[0].compile_seconds == doctest::Approx(1));
  CHECK(ktt.rows()[1].status == Status::wrong_result);
}

TEST_CASE("a space of our own survives being written and read, gzipped") {
  const TemporaryFolder folder;
  const RecordedSpace space = small_space();
  save_space(space, folder.path() / "space.json.gz");
  const RecordedSpace again = load_space(folder.path() / "space.json.gz");
  check_equal(space, again);
  CHECK(again.name() == "small");
  CHECK(again.noise() == doctest::Approx(space.noise()));
  put_text(folder.path() / "plain.json", space_text(space));
  check_equal(space, load_space(folder.path() / "plain.json"));
}

TEST_CASE("damaged and foreign files are refused with their name") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& text) {
    put_text(folder.path() / "x.json.gz", text);
    try {
      static_cast<void>(load_space(folder.path() / "x.json.gz"));
    } catch (const Error& e) {
      return std::string(e.what()).find("x.json.gz") != std::string::npos;
    }
    return false;
  };
  const std::string good = gzip(space_text(small_space()));
  CHECK(refused("no json"));
  CHECK(refused("{}"));
  CHECK(refused("[1]"));
  CHECK(refused(good.substr(0, good.size() / 2)));
  CHECK(refused(R"({"cache": {"1": {"a": 1}}, "tune_params_keys": ["b"]})"));
  CHECK(refused(R"({"format": "warpath-space", "version": 2})"));
  CHECK_THROWS_AS(static_cast<void>(load_space(folder.path() / "absent.json")), Error);
}

TEST_CASE("virtual devices work side by side, charge what was recorded and serve repeats by seed") {
  const RecordedSpace space = small_space(4, 4);
  Options options;
  options.search.strategy = "random";
  const LabRun one = run_lab(space, options, {.seed = 1, .budget = 60});
  const LabRun four = run_lab(space, options, {.seed = 1, .budget = 60, .devices = 4});
  CHECK(one.evaluations == 60);
  CHECK(four.evaluations == 60);
  CHECK(one.virtual_seconds > 60 * 1.5);
  CHECK(four.virtual_seconds < one.virtual_seconds / 3);
  CHECK(four.virtual_seconds >= one.virtual_seconds / 4.5);
  const RecordedSpace::Row& row = space.rows()[0];
  Rng a(1, "x"), b(1, "x");
  const double drawn = served_time_ns(row, Served::draw, a);
  CHECK(drawn == served_time_ns(row, Served::draw, b));
  CHECK(drawn != row.time_ns);
  CHECK(served_time_ns(row, Served::mean, a) == row.time_ns);
}

TEST_CASE(
    "virtual devices take one evaluation at a time and hand back what is done first; more wait for "
    "a device") {
  const std::vector<double> seconds{3, 1, 2, 1};
  VirtualEvaluator evaluator(2, [&](const Submission& submission) {
    Outcome out;
    out.run_seconds = seconds[submission.sequence];
    return out;
  });
  CHECK(evaluator.useful() == 2);
  CHECK_FALSE(evaluator.wait({}).has_value());
  for (std::uint64_t i = 0; i < seconds.size(); ++i) {
    Submission submission;
    submission.sequence = i;
    evaluator.submit(std::move(submission));
  }
  // device one: 0 until 3, then 3 until 4; device two: 1 until 1, then 2 until 3
  std::vector<std::pair<std::uint64_t, double>> done;
  while (const auto next = evaluator.wait({})) done.emplace_back(next->sequence, evaluator.now());
  CHECK(done == std::vector<std::pair<std::uint64_t, double>>{{1, 1}, {0, 3}, {2, 3}, {3, 4}});
  Submission late;
  evaluator.submit(std::move(late));
  evaluator.cancel();
  CHECK_FALSE(evaluator.wait({}).has_value());
}

TEST_CASE(
    "a campaign on virtual devices ends with finals, which are no evaluations, and by draws of the "
    "repeats reports what they say") {
  const RecordedSpace space = small_space(4, 4);
  Options options;
  options.search.strategy = "random";
  const LabRun run = run_lab(space, options, {.seed = 1, .budget = 40});
  CHECK(run.finalists == options.run.finalists);
  CHECK(run.evaluations == 40);
  CHECK(run.reported_ns == run.improvements.back().time_ns);
  options.run.finalists = 0;
  const LabRun without = run_lab(space, options, {.seed = 1, .budget = 40});
  CHECK(without.finalists == 0);
  CHECK(without.reported_ns == run.reported_ns);
  CHECK(without.virtual_seconds == run.virtual_seconds);
  options.run.finalists = 3;
  bool another = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const LabSettings lab{.seed = seed, .budget = 40, .served = Served::draw};
    const LabRun drawn = run_lab(space, options, lab);
    another = another || drawn.reported_ns != drawn.improvements.back().time_ns;
    CHECK(drawn.reported_ns == run_lab(space, options, lab).reported_ns);
  }
  CHECK(another);
}

TEST_CASE("a session over a recorded space finds its optimum and spends nothing outside it") {
  const TemporaryFolder folder;
  const RecordedSpace space = small_space();
  save_space(space, folder.path() / "space.json.gz");
  Options options = test::small_options(200);
  options.search.window = 1;
  test::CampaignBench bench(options, "replay:" + (folder.path() / "space.json.gz").string());
  const SessionResult result = bench.run(folder.path() / "run");
  CHECK(result.baseline_ok);
  CHECK(result.builds == space.rows().size() - 1);
  CHECK(result.by_status[static_cast<std::size_t>(Status::not_applicable)] == 0);
  CHECK(result.best_ms * 1e6 == doctest::Approx(space.best_ns()));
  CHECK(result.stop_reason == "nothing left to try");
}

TEST_SUITE_END();
