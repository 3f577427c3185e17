#include "experiments/evaluate/build_shares.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/spec/spec_load.h"
#include "experiments/evaluate/batch.h"
#include "experiments/setup/option_groups.h"
#include "tests/experiments/program.h"

using namespace warpath;
using namespace warpath::testing;

namespace {

/// A search's state: speed-up, and its largest lower bound over its time (0: unknown).
SessionResult after(std::uint64_t builds, double speedup, double bound_share) {
  Outcome outcome;
  outcome.status = Status::ok;
  outcome.timings.push_back(
      {.workload = "w", .samples_ns = {1000, 1000}, .launch = {}, .cache = "hot"});
  outcome.diagnosis.emplace();
  if (bound_share > 0)
    outcome.diagnosis->time_bound_ns["dram"] = {.value = 1000 * bound_share, .source = {}};
  SessionResult out;
  out.baseline_ok = true;
  out.builds = builds;
  out.speedup = speedup;
  out.best_outcome = std::make_shared<const Outcome>(std::move(outcome));
  return out;
}

/// Gives the kernel's turn what was asked.
void turn(BuildShares& shares, std::size_t kernel, double speedup, double bound_share) {
  REQUIRE(shares.next() == kernel);
  const SessionResult result =
      after(static_cast<std::uint64_t>(shares.budget(kernel)), speedup, bound_share);
  shares.take(kernel, &result);
}

}  // namespace

TEST_SUITE_BEGIN("build_shares");

TEST_CASE("after a slice each, builds go to the kernel with most weight times distance left") {
  BuildShares shares(weighted_kernels({"near", "far", "heavy"}, {"heavy=3"}), 60, 10);
  turn(shares, 0, 1.25, 0.95);  // 0.8 of the baseline's time, of which it may lose 5 %: 0.04
  turn(shares, 1, 1.0, 0.5);    // 0.5, gained nothing: counts half
  turn(shares, 2, 2.0, 0.8);    // 3 * 0.1
  turn(shares, 2, 4.0, 0.9);    // 3 * 0.025
  turn(shares, 1, 1.6, 0.8);    // 0.125
  turn(shares, 1, 1.6, 0.8);    // 0.125, gained nothing
  CHECK_FALSE(shares.next());   // all are spent
  CHECK(shares.kernels()[1].builds == 30);
  CHECK(shares.kernels()[2].left() == doctest::Approx(0.075));
  CHECK(shares_table(shares).find("its bound") != std::string::npos);
}

TEST_CASE("where no bound is known, what the last slice gained decides") {
  BuildShares shares(weighted_kernels({"done", "going"}, {}), 8, 2);
  turn(shares, 0, 1.0, 0);
  turn(shares, 1, 2.0, 0);
  turn(shares, 1, 2.5, 0);
  turn(shares, 1, 2.5, 0);
  CHECK_FALSE(shares.next());
  CHECK_FALSE(shares.kernels()[1].bound_is_known);
}

TEST_CASE("a search that fails or ends before its slice is spent gets no more") {
  BuildShares shares(weighted_kernels({"a", "b", "c"}, {}), 100, 10);
  shares.take(0, nullptr);
  const SessionResult exhausted = after(4, 1.5, 0.1);
  shares.take(1, &exhausted);
  turn(shares, 2, 1.1, 0.9);
  CHECK(shares.next() == std::size_t{2});
  const SessionResult last = after(12, 1.1, 0.9);
  shares.take(2, &last);
  CHECK_FALSE(shares.next());
  CHECK(BuildShares(weighted_kernels({"a", "b", "c"}, {}), 2, 10).budget(0) == 1);
  for (const char* const bad : {"a", "a=", "a=0", "a=x", "d=1", "=1"})
    CHECK_THROWS_AS(static_cast<void>(weighted_kernels({"a"}, {bad})), Error);
}

TEST_CASE("recorded kernels: the one that is far from its bound gets more, and the same again") {
  const TemporaryFolder folder;
  const Plugins plugins;
  const auto searched = [&](const std::string& out) {
    const std::vector<std::string> names{"softmax_scaled", "bias_gelu_res"};
    BuildShares shares(weighted_kernels(names, {}), 60, 10);
    while (const auto next = shares.next()) {
      const std::string& name = names[*next];
      KernelRun run{
          .spec = load_specs((source_root() / "specs" / (name + ".json")).string()).front(),
          .options = default_options(),
          .runner = {.name = "replay",
                     .argument =
                         (source_root() / "experiments/graphs" / (name + ".graph.gz")).string()},
          .folder = folder.path() / out / name};
      run.options.run.budget_builds = shares.budget(*next);
      run.options.run.finalists = 0;
      run.options.record.sync = "never";
      SessionObserver silent;
      const SessionResult result =
          run_kernel(run, shares.kernels()[*next].slices > 0, plugins,
                     {.path = std::getenv("WARPATH_PROGRAM"), .words = {}}, silent, {}, {});
      shares.take(*next, &result);
    }
    return shares;
  };
  const BuildShares once = searched("once"), twice = searched("twice");
  CHECK(shares_table(once) == shares_table(twice));
  for (const BuildShares::Kernel& kernel : once.kernels()) CHECK(kernel.bound_is_known);
  CHECK(once.kernels()[0].builds + once.kernels()[1].builds == 60);
  CHECK(once.kernels()[0].builds != once.kernels()[1].builds);
}

TEST_CASE("a batch shares its builds, says how, and times the best of each again") {
  const TemporaryFolder folder;
  const auto batch = [&](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> words{"run",
                                   "--input",
                                   (source_root() / "specs/softmax_scaled.json").string(),
                                   (source_root() / "specs/rowscan.json").string(),
                                   "--runner",
                                   "synthetic",
                                   "--outdir",
                                   folder / out};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  };
  const std::vector<std::string> shared{"--share-builds", "40",       "--share-slice", "5",
                                        "--weight",       "rowscan=4"};
  const ProgramResult first = batch("a", shared);
  REQUIRE_MESSAGE(first.code == 0, first.err);
  CHECK(batch("b", shared).out == first.out);
  const std::string line = lines_of(first.out).back();
  CHECK(line.starts_with("rowscan "));
  CHECK(line.find(" 4 ") != std::string::npos);
  CHECK(line.ends_with("its last slice"));
  std::int64_t builds = 0;
  for (const char* const name : {"softmax_scaled", "rowscan"}) {
    const auto summary = nlohmann::json::parse(
        read_file(folder / (std::string("a/kernels/") + name + "/best_summary.json")));
    builds += summary.at("builds").get<std::int64_t>();
    CHECK(summary.at("finalists").get<int>() > 0);
  }
  CHECK(builds == 40);
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--share-builds", "0"},
                                             {"--share-slice", "5"},
                                             {"--share-builds", "9", "--weight", "other=1"},
                                             {"--share-builds", "9", "--budget-builds", "9"}}) {
    CAPTURE(wrong.back());
    const ProgramResult refused = batch("c", wrong);
    CHECK(refused.code == 64);
    CHECK(lines_of(refused.err).size() == 1);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "c"));
}

TEST_SUITE_END();
