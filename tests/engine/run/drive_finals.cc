#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "engine/log/event_log.h"
#include "engine/run/session.h"
#include "engine/run/session_result.h"
#include "runners/synthetic/options.h"
#include "tests/support/campaign_bench.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using test::CampaignBench;
using test::small_options;
using test::TemporaryFolder;
using test::text_of;
namespace fs = std::filesystem;

namespace {

using Nodes = std::vector<std::uint32_t>;

/// A runner over the synthetic one that sees the request beside the outcome.
class WatchedRunner final : public Runner {
 public:
  using Watch = std::function<void(const RunRequest&, Outcome&)>;
  WatchedRunner(Runner& inner, Watch watch) : inner_(inner), watch_(std::move(watch)) {}
  [[nodiscard]] std::string_view name() const override { return inner_.name(); }
  [[nodiscard]] DeviceFacts device() const override { return inner_.device(); }
  [[nodiscard]] bool only_tunables() const override { return inner_.only_tunables(); }
  [[nodiscard]] int lanes() const override { return inner_.lanes(); }
  void prepare(const KernelSpec&) override {}
  [[nodiscard]] Outcome run(const RunRequest& request, std::stop_token stop) override {
    Outcome outcome = inner_.run(request, std::move(stop));
    watch_(request, outcome);
    return outcome;
  }

 private:
  Runner& inner_;
  Watch watch_;
};

struct WatchedBench : CampaignBench {
  WatchedBench(Options o, WatchedRunner::Watch watch) : CampaignBench(std::move(o)) {
    make_evaluator = [this, watch = std::move(watch)](Runner& runner, const KernelSpec& searched) {
      watched = std::make_unique<WatchedRunner>(runner, watch);
      return runner_pool(*watched, searched);
    };
  }
  std::unique_ptr<Runner> watched;
};

/// Notes finals, and asks for a stop after some of them.
struct FinalTaker final : SessionObserver {
  void on_final(const FinalReport& r) override {
    nodes.push_back(index(r.node));
    speedups.push_back(r.speedup);
    if (static_cast<int>(nodes.size()) == stop_after) source.request_stop();
  }
  void on_heat(const FinalReport& r) override {
    heats.push_back(index(r.node));
    if (static_cast<int>(heats.size()) == stop_after_heats) source.request_stop();
  }
  Nodes heats;
  int stop_after_heats = -1;
  Nodes nodes;
  std::vector<double> speedups;
  int stop_after = -1;
  std::stop_source source;
};

SessionResult watched_run(CampaignBench& bench,
                          FinalTaker& taker,
                          const fs::path& folder,
                          bool resume = false) {
  bench.observer = &taker;
  SessionResult result = bench.run(folder, resume, taker.source.get_token());
  bench.observer = nullptr;
  return result;
}

std::vector<std::string> final_lines(const fs::path& folder) {
  EventReader reader(folder / "events.jsonl");
  std::vector<std::string> out;
  while (const auto object = reader.next()) {
    auto json = nlohmann::json::parse(*object);
    if (json["type"] != "final" && json["type"] != "heat") continue;
    for (const char* key : {"at", "seconds"}) json.erase(key);
    json["outcome"].erase("run_seconds");
    out.push_back(json.dump());
  }
  return out;
}

}  // namespace

TEST_SUITE("drive_finals") {
  TEST_CASE(
      "a search ends with its best timed again at the final stage, on inputs of their own, and "
      "reports these times") {
    const TemporaryFolder folder;
    std::mutex mutex;
    std::set<std::uint64_t> seeds;
    int finals = 0;
    Options options = small_options(20);
    options.record.keep_variants = true;
    options.of<SyntheticOptions>().noise = 0.1;
    WatchedBench bench(options, [&](const RunRequest& request, Outcome&) {
      const std::scoped_lock lock(mutex);
      CHECK(seeds.insert(request.seed).second);
      if (request.stage == Stage::final) ++finals;
    });
    FinalTaker taker;
    const SessionResult result = watched_run(bench, taker, folder.path());
    CHECK(finals == 4);
    REQUIRE(taker.nodes.size() == 4);
    CHECK(taker.nodes[0] == 0);
    CHECK(result.finalists == 3);
    CHECK(result.builds == 20);  // finals are not builds
    CHECK(result.speedup ==
          doctest::Approx(*std::max_element(taker.speedups.begin(), taker.speedups.end())));
    CHECK(result.best_ms == doctest::Approx(result.baseline_ms / result.speedup));
    CHECK(result.searched_speedup != result.speedup);

    const auto summary = nlohmann::json::parse(text_of(folder.path() / "best_summary.json"));
    CHECK(summary["finalists"] == 3);
    CHECK(summary["searched_speedup"] == result.searched_speedup);
    CHECK(fs::read_symlink(folder.path() / "best").filename() == result.best_key.hex());
    const std::string ledger = text_of(folder.path() / "ledger.csv");
    std::size_t rows = 0;
    for (std::size_t at = ledger.find(",final,"); at != std::string::npos;
         at = ledger.find(",final,", at + 1))
      ++rows;
    CHECK(rows == 4);
    const std::string trace = text_of(folder.path() / "trace.md");
    CHECK(trace.find("## Final " + result.best_key.short_hex()) != std::string::npos);
    CHECK(trace.find(": the baseline timed again") != std::string::npos);
  }

  TEST_CASE(
      "what is reported has the interval of its pairs; the baseline and what was not timed in "
      "pairs have none") {
    for (const bool pairs : {true, false}) {
      for (const int finalists : {0, 2}) {
        CAPTURE(pairs);
        CAPTURE(finalists);
        const TemporaryFolder folder;
        Options options = small_options(20);
        options.run.finalists = finalists;
        options.of<SyntheticOptions>().noise = 0.05;
        WatchedBench bench(options, [&](const RunRequest&, Outcome& outcome) {
          for (WorkloadTiming& timing : outcome.timings) {
            if (pairs) timing.baseline_samples_ns = timing.samples_ns;
            for (std::size_t i = 0; i < timing.baseline_samples_ns.size(); ++i)
              timing.baseline_samples_ns[i] *= 3.0 + 0.01 * static_cast<double>(i % 3);
          }
        });
        FinalTaker taker;
        const SessionResult result = watched_run(bench, taker, folder.path());
        REQUIRE(result.best_key != Hash128{});
        const auto summary = nlohmann::json::parse(text_of(folder.path() / "best_summary.json"));
        CHECK(result.speedup_interval.has_value() == pairs);
        CHECK(summary["speedup_interval"].is_null() != pairs);
        if (!pairs) continue;
        CHECK(result.speedup_interval->low <= result.speedup);
        CHECK(result.speedup <= result.speedup_interval->high);
        CHECK(result.speedup_interval->low > 2.9);
        CHECK(result.speedup_interval->high < 3.1);
        CHECK(summary["speedup_interval"][0] == result.speedup_interval->low);
        CHECK(summary["speedup_interval"][1] == result.speedup_interval->high);
      }
    }
  }

  TEST_CASE("a gain whose interval includes 1 is not an improvement") {
    for (const double spread : {0.02, 0.9}) {
      CAPTURE(spread);
      const TemporaryFolder folder;
      Options options = small_options(20);
      options.run.finalists = 2;
      WatchedBench bench(options, [&](const RunRequest&, Outcome& outcome) {
        for (WorkloadTiming& timing : outcome.timings) {
          timing.baseline_samples_ns = timing.samples_ns;
          for (std::size_t i = 0; i < timing.baseline_samples_ns.size(); ++i)
            timing.baseline_samples_ns[i] *= 1.25 + spread * (i % 2 == 0 ? 1.0 : -0.9);
        }
      });
      FinalTaker taker;
      const SessionResult result = watched_run(bench, taker, folder.path());
      REQUIRE(result.speedup_interval);
      CHECK(result.speedup > 1.05);
      CHECK((result.speedup_interval->low > 1) == (spread < 0.1));
      CHECK(result.improved == (spread < 0.1));
      CHECK(result.exit_code() == (result.improved ? 0 : 2));
    }
  }

  TEST_CASE("finals leave the search graph as it is") {
    std::set<std::string> fingerprints;
    for (const int finalists : {0, 1, 3, 50}) {
      const TemporaryFolder folder;
      Options options = small_options(20);
      options.run.finalists = finalists;
      CampaignBench bench(options);
      FinalTaker taker;
      const SessionResult result = watched_run(bench, taker, folder.path());
      fingerprints.insert(result.fingerprint.hex());
      CHECK(result.finalists <= finalists);
      if (finalists == 0) {
        CHECK(taker.nodes.empty());
        CHECK(result.speedup == result.searched_speedup);
      }
    }
    CHECK(fingerprints.size() == 1);
  }

  TEST_CASE("the best of a noisy search flatters itself; as timed again it does not") {
    double searched = 0, reported = 0;
    constexpr int kRuns = 30;
    for (int seed = 1; seed <= kRuns; ++seed) {
      const TemporaryFolder folder;
      Options options = small_options(25);
      options.run.seed = static_cast<std::uint64_t>(seed);
      options.run.finalists = 1;
      options.of<SyntheticOptions>().noise = 0.3;
      options.of<SyntheticOptions>().failure = 0;
      options.of<SyntheticOptions>().spread = 0.05;
      CampaignBench bench(options);
      const SessionResult result = bench.run(folder.path());
      searched += std::log(result.searched_speedup) / kRuns;
      reported += std::log(result.speedup) / kRuns;
    }
    CHECK(searched > 0.2);
    CHECK(reported < searched / 2);
  }

  TEST_CASE("what the final gates refuse is not reported") {
    const TemporaryFolder folder;
    WatchedBench bench(small_options(20), [](const RunRequest& request, Outcome& outcome) {
      const bool is_baseline = std::ranges::all_of(request.variant.tunables,
                                                   [](const auto& t) { return t.second == 0; });
      if (request.stage != Stage::final || is_baseline) return;
      outcome = {};
      outcome.status = Status::rejected;
      outcome.verdict.gates = {{"vault", GateResult::Answer::fail, "wrote elsewhere"}};
    });
    bench.options.record.keep_variants = true;
    const SessionResult result = bench.run(folder.path());
    CHECK(result.searched_speedup > 1);
    CHECK(result.speedup == 1);
    CHECK_FALSE(result.improved);
    CHECK(result.exit_code() == 2);
    CHECK(result.finalists > 3);  // all that beat the baseline were tried
    CHECK(fs::read_symlink(folder.path() / "best") == "baseline");
  }

  TEST_CASE("a resume after the end pays for nothing again and reports the same") {
    const TemporaryFolder folder;
    CampaignBench bench(small_options(20));
    FinalTaker first, second;
    const SessionResult result = watched_run(bench, first, folder.path());
    const SessionResult again = watched_run(bench, second, folder.path(), true);
    CHECK(second.nodes.empty());
    CHECK(again.best_key == result.best_key);
    CHECK(again.speedup == result.speedup);
    CHECK(again.baseline_ms == result.baseline_ms);
    CHECK(again.finalists == result.finalists);
    fs::remove(folder.path() / "search_state.json");
    CHECK(watched_run(bench, second, folder.path(), true).speedup == result.speedup);
    CHECK(second.nodes.empty());
  }

  TEST_CASE("a larger budget times the new finalists only") {
    const TemporaryFolder folder;
    CampaignBench bench(small_options(4));
    FinalTaker first, second;
    static_cast<void>(watched_run(bench, first, folder.path()));
    bench.options.run.budget_builds = 25;
    static_cast<void>(watched_run(bench, second, folder.path(), true));
    REQUIRE_FALSE(second.nodes.empty());
    CHECK(second.nodes[0] == 0);
    for (std::size_t i = 1; i < second.nodes.size(); ++i) {
      CHECK(std::find(first.nodes.begin() + 1, first.nodes.end(), second.nodes[i]) ==
            first.nodes.end());
    }
  }

  TEST_CASE(
      "finalists asked for later are timed by a resume: run.finalists does not shape the graph") {
    const TemporaryFolder folder;
    CampaignBench bench(small_options(20));
    bench.options.run.finalists = 0;
    FinalTaker taker;
    const SessionResult before = watched_run(bench, taker, folder.path());
    bench.options.run.finalists = 2;
    const SessionResult after = watched_run(bench, taker, folder.path(), true);
    CHECK(taker.nodes.size() == 3);
    CHECK(after.fingerprint == before.fingerprint);
    CHECK(after.finalists == 2);
  }

  TEST_CASE(
      "a stop during the finals interrupts the run; a resume times the rest, in the order of an "
      "undisturbed run") {
    const TemporaryFolder whole;
    CampaignBench bench(small_options(20));
    bench.options.search.in_flight = 1;
    const SessionResult expected = bench.run(whole.path());
    for (const int after : {1, 2, 3}) {
      CAPTURE(after);
      const TemporaryFolder folder;
      FinalTaker stopped, resumed;
      stopped.stop_after = after;
      const SessionResult cut = watched_run(bench, stopped, folder.path());
      CHECK(cut.interrupted);
      CHECK(cut.stop_reason == "interrupted");
      CHECK(cut.finalists == 0);  // not decided: the figures are the search's
      CHECK(cut.speedup == cut.searched_speedup);
      const SessionResult result = watched_run(bench, resumed, folder.path(), true);
      CHECK(stopped.nodes.size() + resumed.nodes.size() == 4);
      CHECK(result.speedup == expected.speedup);
      CHECK(final_lines(folder.path()) == final_lines(whole.path()));
    }
  }

  TEST_CASE(
      "finals are recorded in one order, however many lanes there are and whatever they take") {
    std::set<std::vector<std::string>> stories;
    for (const int lanes : {1, 4}) {
      const TemporaryFolder folder;
      Options options = small_options(20);
      options.of<SyntheticOptions>().lanes = lanes;
      options.of<SyntheticOptions>().delay_ms = 2;
      CampaignBench bench(options);
      static_cast<void>(bench.run(folder.path()));
      stories.insert(final_lines(folder.path()));
    }
    CHECK(stories.size() == 1);
  }

  TEST_CASE(
      "heats are recorded in one order, are no builds, leave the graph as it is and are paid for "
      "once") {
    Options options = small_options(20);
    options.of<SyntheticOptions>().noise = 0.1;
    options.of<SyntheticOptions>().delay_ms = 1;
    const TemporaryFolder plain;
    CampaignBench bench(options);
    const SessionResult without = bench.run(plain.path());
    bench.options.run.final_candidates = 4;
    bench.options.run.finalists = 1;
    const TemporaryFolder whole;
    FinalTaker taker;
    const SessionResult result = watched_run(bench, taker, whole.path());
    CHECK(taker.heats.size() == 4 + 2 * 2);  // four once, the better two twice more
    CHECK(taker.nodes.size() == 2);
    CHECK(result.fingerprint == without.fingerprint);
    CHECK(result.builds == 20);
    CHECK(result.finalists == 1);
    const std::string ledger = text_of(whole.path() / "ledger.csv");
    CHECK(ledger.find(",heat,") != std::string::npos);
    CHECK(text_of(whole.path() / "trace.md").find(", reading 2: ") != std::string::npos);

    FinalTaker again;
    CHECK(watched_run(bench, again, whole.path(), true).speedup == result.speedup);
    CHECK(again.heats.empty());
    CHECK(again.nodes.empty());
    for (const int lanes : {1, 4}) {
      for (const int after : {-1, 1, 6}) {
        CAPTURE(lanes);
        CAPTURE(after);
        const TemporaryFolder folder;
        bench.options.of<SyntheticOptions>().lanes = lanes;
        FinalTaker stopped, resumed;
        stopped.stop_after_heats = after;
        const SessionResult cut = watched_run(bench, stopped, folder.path());
        CHECK(cut.interrupted == (after > 0));
        if (after > 0)
          CHECK(watched_run(bench, resumed, folder.path(), true).speedup == result.speedup);
        CHECK(stopped.heats.size() + resumed.heats.size() == taker.heats.size());
        CHECK(final_lines(folder.path()) == final_lines(whole.path()));
      }
    }
  }

  TEST_CASE("an interrupted search times no finalists") {
    const TemporaryFolder folder;
    CampaignBench bench(small_options(20));
    FinalTaker taker;
    taker.source.request_stop();
    CHECK(watched_run(bench, taker, folder.path()).interrupted);
    CHECK(taker.nodes.empty());
  }
}
