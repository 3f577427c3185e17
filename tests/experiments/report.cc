#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/base/format.h"
#include "experiments/console/progress.h"
#include "experiments/console/summary_table.h"
#include "tests/experiments/program.h"

using namespace warpath;

namespace {

SessionResult finished(double speedup) {
  SessionResult result;
  result.name = "kernel";
  result.runner = "host";
  result.baseline_ok = true;
  result.baseline_ms = 3;
  result.best_ms = 3 / speedup;
  result.speedup = speedup;
  result.improved = speedup >= 1.02;
  result.builds = 5;
  result.by_status[static_cast<std::size_t>(Status::ok)] = 2;
  result.by_status[static_cast<std::size_t>(Status::wrong_result)] = 2;
  result.by_status[static_cast<std::size_t>(Status::timed_out)] = 1;
  return result;
}

KernelReport report(SessionResult result) {
  return {.name = "kernel", .result = std::move(result), .problem = ""};
}

KernelReport failure(ErrorCode code) {
  return {.name = "broken", .result = std::nullopt, .problem = "no compiler", .problem_code = code};
}

}  // namespace

TEST_SUITE_BEGIN("report");

TEST_CASE("a batch improved if any kernel did, and failed if the infrastructure failed for any") {
  const KernelReport improved = report(finished(1.5)), same = report(finished(1));
  CHECK(exit_code({improved, same}) == 0);
  CHECK(exit_code({same, same}) == 2);
  CHECK(exit_code({improved, failure(ErrorCode::environment)}) == 3);
  CHECK(exit_code({improved, failure(ErrorCode::bad_input)}) == 64);
  CHECK(exit_code({failure(ErrorCode::bad_input), failure(ErrorCode::environment)}) == 3);
  SessionResult interrupted = finished(1.5);
  interrupted.interrupted = true;
  CHECK(exit_code({report(interrupted)}) == 3);
}

TEST_CASE(
    "the table has a line a kernel, says what was rejected for, and calls CPU timings by their "
    "name") {
  const auto lines = testing::lines_of(
      summary_table({report(finished(1.5)), failure(ErrorCode::environment)}, "host"));
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].find("CPU timings") != std::string::npos);
  CHECK(lines[1].find("name") == 0);
  CHECK(lines[2].find("1.500x") != std::string::npos);
  CHECK(lines[2].find("wrong_result 2, timed_out 1") != std::string::npos);
  CHECK(lines[2].find("improved") != std::string::npos);
  CHECK(lines[3].find("failed: no compiler") != std::string::npos);
}

TEST_CASE("the speed-up at a run's end has its interval where there is one") {
  SessionResult paired = finished(1.5);
  paired.speedup_interval = Interval{1.48, 1.5204};
  CHECK(testing::lines_of(summary_table({report(paired)}, "cuda"))[1].find(
            "1.500x [1.480, 1.520]  ") != std::string::npos);
  CHECK(testing::lines_of(summary_table({report(finished(1.5))}, "cuda"))[1].find("1.500x  ") !=
        std::string::npos);
  const auto said = [](const SessionResult& result) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* const out = ::open_memstream(&text, &size);
    ProgressPrinter(out).on_finish(result);
    std::fclose(out);
    const std::string line(text, size);
    std::free(text);
    return line;
  };
  CHECK(said(paired).find("3.0000 ms -> 2.0000 ms, 1.500x [1.480, 1.520], after 5 builds in ") !=
        std::string::npos);
  CHECK(said(finished(1.5)).find("3.0000 ms -> 2.0000 ms, 1.500x, after 5 builds in ") !=
        std::string::npos);
}

TEST_CASE("a progress line shows builds, best, rejected, rate and time left, and fits its width") {
  SessionProgress progress;
  progress.builds = 10;
  progress.budget_builds = 40;
  progress.baseline_ms = 2;
  progress.best_speedup = 1.25;
  progress.builds_per_second = 0.5;
  progress.by_status[static_cast<std::size_t>(Status::crashed)] = 3;
  CHECK(progress_line("k", progress, 200) ==
        "k [#####---------------] 10/40  best 1.250x  3 rejected  0.5/s  ETA 1 min 0 s");
  CHECK(progress_line("k", progress, 60) ==
        "k 10/40  best 1.250x  3 rejected  0.5/s  ETA 1 min 0 s");
  CHECK(progress_line("k", progress, 45) == "k 10/40  best 1.250x  0.5/s  ETA 1 min 0 s");
  CHECK(progress_line("k", progress, 30).size() <= 30);
  CHECK(progress_line("grouped_gemm_bf16_of_a_long_name", progress, 50) ==
        "grouped_gemm_bf1 10/40  best 1.250x  ETA 1 min 0 s");
  progress.baseline_ms = 0;
  CHECK(progress_line("k", progress, 200) == "k measuring the baseline, 0 s");
}

TEST_CASE("durations read well") {
  CHECK(duration_text(3.2) == "3 s");
  CHECK(duration_text(125) == "2 min 5 s");
  CHECK(duration_text(3840) == "1 h 4 min");
}

TEST_SUITE_END();
