#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/base/rng.h"
#include "tests/experiments/program.h"
#include "tests/support/figure.h"

using namespace warpath::testing;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {

/// Deterministic, several evaluations in flight, snapshots often: every kind of write happens all
/// the time.
Words search(const fs::path& out, bool resume) {
  Words words{"run",
              "--input",
              (source_root() / "specs/softmax_scaled.json").string(),
              "--outdir",
              out.string(),
              "--runner",
              "synthetic",
              "--deterministic",
              "--in-flight",
              "4",
              "--budget-builds",
              "100",
              "--set",
              "search.strategy=mcgs",
              "--set",
              "synthetic.lanes=4",
              "--set",
              "synthetic.delay_ms=10",
              "--set",
              "record.snapshot_every=7",
              "--set",
              "record.sync=never"};
  if (resume) words.emplace_back("--resume");
  return words;
}

std::string fingerprint(const fs::path& out) {
  const auto file = out / "kernels/softmax_scaled/best_summary.json";
  return nlohmann::json::parse(read_file(file)).at("fingerprint").get<std::string>();
}

/// The log up to its last whole line.
std::string whole_lines(const fs::path& out) {
  const std::string text = read_file(out / "kernels/softmax_scaled/events.jsonl");
  return text.substr(0, text.find_last_of('\n') + 1);
}

std::uint64_t events_in(const std::string& log, const std::string& type) {
  std::uint64_t count = 0;
  for (const std::string& line : lines_of(log))
    count += line.find("\"type\":\"" + type + "\"") != std::string::npos ? 1U : 0U;
  return count;
}

std::uint64_t outcomes_in(const std::string& log) {
  return events_in(log, "outcome");
}

/// Outcomes of `before` that `after` does not begin with.
std::uint64_t lost_outcomes(const std::string& before, const std::string& after) {
  return after.starts_with(before) ? 0 : outcomes_in(before);
}

int kill_points() {
  const char* text = std::getenv("WARPATH_KILL_POINTS");
  return text == nullptr ? 4 : std::atoi(text);
}

}  // namespace

TEST_SUITE_BEGIN("kill");

TEST_CASE(
    "a run killed at random points resumes to the graph of an uninterrupted one and loses no "
    "outcome") {
  const TemporaryFolder reference;
  const auto began = std::chrono::steady_clock::now();
  REQUIRE(run_program(search(reference.path(), false)).code != 64);
  const std::chrono::duration<double> whole_run = std::chrono::steady_clock::now() - began;
  const std::string expected = fingerprint(reference.path());
  REQUIRE(outcomes_in(whole_lines(reference.path())) == 100);

  warpath::Rng rng(20, "kill");
  std::uint64_t points = 0, lost = 0, midway = 0;
  for (int i = 0; i < kill_points(); ++i, ++points) {
    CAPTURE(i);
    const TemporaryFolder out;
    {
      RunningProgram program(search(out.path(), false));
      // Half of them at any moment, half between two outcomes however long the start takes.
      const std::uint64_t outcomes = 1 + rng.below(60);
      if (i % 2 == 0) {
        static_cast<void>(program.wait_until([&] {
          return fs::exists(out.path() / "kernels/softmax_scaled/events.jsonl") &&
                 outcomes_in(whole_lines(out.path())) >= outcomes;
        }));
      } else {
        std::this_thread::sleep_for(whole_run * rng.uniform());
      }
      program.signal(SIGKILL);
      static_cast<void>(program.finish());
    }
    const std::string before = whole_lines(out.path());
    if (const auto done = outcomes_in(before); done > 0 && done < 100) ++midway;
    const ProgramResult resumed = run_program(search(out.path(), true));
    CAPTURE(resumed.err);
    REQUIRE((resumed.code == 0 || resumed.code == 2));
    CHECK(fingerprint(out.path()) == expected);
    const std::string after = whole_lines(out.path());
    CHECK(outcomes_in(after) == 100);
    lost += lost_outcomes(before, after);
  }
  CHECK(lost == 0);
  CHECK(midway > 0);
  report_figure("kill_points", points);
  report_figure("outcomes_lost", lost);
}

TEST_CASE(
    "a run killed while its finalists are timed again resumes and pays for none of them twice") {
  const auto with_finals = [](const fs::path& out, bool resume) {
    Words words = search(out, resume);
    words.insert(words.end(), {"--finalists", "8", "--set", "synthetic.delay_ms=20", "--set",
                               "synthetic.noise=0.1"});
    return words;
  };
  const TemporaryFolder out;
  std::string before;
  {
    RunningProgram program(with_finals(out.path(), false));
    REQUIRE(program.wait_until([&] {
      const fs::path log = out.path() / "kernels/softmax_scaled/events.jsonl";
      return fs::exists(log) && events_in(whole_lines(out.path()), "final") >= 3;
    }));
    program.signal(SIGKILL);
    static_cast<void>(program.finish());
    before = whole_lines(out.path());
  }
  CHECK(events_in(before, "final") < 9);
  const ProgramResult resumed = run_program(with_finals(out.path(), true));
  CAPTURE(resumed.err);
  CHECK(resumed.code == 0);
  const std::string after = whole_lines(out.path());
  CHECK(after.starts_with(before));
  CHECK(outcomes_in(after) == 100);
  CHECK(events_in(after, "final") == 9);  // the baseline and eight
  const auto summary =
      nlohmann::json::parse(read_file(out.path() / "kernels/softmax_scaled/best_summary.json"));
  CHECK(summary.at("finalists") == 8);
  CHECK(summary.at("speedup") != summary.at("searched_speedup"));
  CHECK(resumed.err.find("softmax_scaled: final: ") != std::string::npos);
}

TEST_SUITE_END();
