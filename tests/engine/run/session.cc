#include "engine/run/session.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "engine/base/error.h"
#include "engine/run/session_result.h"
#include "runners/synthetic/landscape.h"
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

std::string error_of(const std::function<void()>& work, ErrorCode code = ErrorCode::bad_input) {
  try {
    work();
    return "";
  } catch (const Error& e) {
    CHECK(e.code() == code);
    return e.what();
  }
}

/// Counts what it is told.
struct Watcher final : SessionObserver {
  void on_outcome(const OutcomeReport& r) override {
    if (r.sequence == kBaselineSequence) {
      ++baselines;
    } else {
      ++outcomes;
    }
  }
  void on_finish(const SessionResult&) override { finished = true; }
  int outcomes = 0, baselines = 0;
  bool finished = false;
};

/// A runner over the synthetic one whose outcomes are altered.
class AlteringRunner final : public Runner {
 public:
  AlteringRunner(Runner& inner, std::function<void(Outcome&)> alter)
      : inner_(inner), alter_(std::move(alter)) {}
  [[nodiscard]] std::string_view name() const override { return inner_.name(); }
  [[nodiscard]] DeviceFacts device() const override { return inner_.device(); }
  [[nodiscard]] bool only_tunables() const override { return inner_.only_tunables(); }
  void prepare(const KernelSpec&) override {}
  [[nodiscard]] Outcome run(const RunRequest& request, std::stop_token stop) override {
    Outcome outcome = inner_.run(request, std::move(stop));
    alter_(outcome);
    return outcome;
  }

 private:
  Runner& inner_;
  std::function<void(Outcome&)> alter_;
};

/// A bench whose evaluator alters what the synthetic runner says.
struct AlteredBench : CampaignBench {
  AlteredBench(Options o, std::function<void(Outcome&)> alter) : CampaignBench(std::move(o)) {
    make_evaluator = [this, alter = std::move(alter)](Runner& runner, const KernelSpec& searched) {
      altering = std::make_unique<AlteringRunner>(runner, alter);
      return runner_pool(*altering, searched);
    };
  }
  std::unique_ptr<Runner> altering;
};

/// A runner over another whose evaluations wait for the only device, which takes a while for each.
class QueueingRunner final : public Runner {
 public:
  QueueingRunner(Runner& inner, int lanes, std::chrono::milliseconds each)
      : inner_(inner), lanes_(lanes), each_(each) {}
  [[nodiscard]] std::string_view name() const override { return inner_.name(); }
  [[nodiscard]] DeviceFacts device() const override { return inner_.device(); }
  [[nodiscard]] bool only_tunables() const override { return inner_.only_tunables(); }
  [[nodiscard]] int lanes() const override { return lanes_; }
  void prepare(const KernelSpec&) override {}
  [[nodiscard]] Outcome run(const RunRequest& request, std::stop_token stop) override {
    std::unique_lock lock(mutex_);
    free_.wait(lock, request.withdrawn, [this] { return !busy_; });
    if (request.withdrawn.stop_requested()) {
      Outcome outcome;
      outcome.status = Status::not_measured;
      return outcome;
    }
    busy_ = true;
    lock.unlock();
    std::this_thread::sleep_for(each_);
    Outcome outcome = inner_.run(request, std::move(stop));
    lock.lock();
    busy_ = false;
    free_.notify_one();
    return outcome;
  }

 private:
  Runner& inner_;
  const int lanes_;
  const std::chrono::milliseconds each_;
  std::mutex mutex_;
  std::condition_variable_any free_;
  bool busy_ = false;
};

}  // namespace

TEST_SUITE("session") {
  TEST_CASE(
      "a campaign measures the baseline, spends its budget and leaves every file of the run "
      "folder") {
    const TemporaryFolder folder;
    Options options = small_options(12);
    options.record.keep_variants = true;
    CampaignBench bench(options);
    Watcher watcher;
    bench.observer = &watcher;
    const SessionResult result = bench.run(folder.path() / "run");
    CHECK(result.baseline_ok);
    CHECK(result.builds == 12);
    CHECK(result.stop_reason == "12 builds");
    CHECK_FALSE(result.interrupted);
    CHECK(watcher.baselines == 1);
    CHECK(watcher.outcomes == 12);
    CHECK(watcher.finished);
    CHECK(result.speedup >= 1);
    CHECK(result.best_ms == doctest::Approx(result.baseline_ms / result.speedup));
    for (const char* name :
         {"input_spec.json", "config.json", "environment.json", "device.json", "events.jsonl",
          "search_state.json", "ledger.csv", "trace.md", "best_summary.json", "baseline/source.cu",
          "baseline/outcome.json", "best/source.cu", "best/outcome.json"}) {
      CAPTURE(name);
      CHECK(fs::exists(folder.path() / "run" / name));
    }
    CHECK(std::distance(fs::directory_iterator(folder.path() / "run/variants"),
                        fs::directory_iterator()) == 12);
    const auto summary = nlohmann::json::parse(text_of(folder.path() / "run/best_summary.json"));
    CHECK(summary == to_json(result));
    for (const char* key : {"name", "runner", "device", "baseline_ms", "best_ms", "speedup",
                            "best_key", "builds", "verdict", "fingerprint", "seed"}) {
      CHECK(summary.contains(key));
    }
    const std::string ledger = text_of(folder.path() / "run/ledger.csv");
    // header, baseline, 12; baseline and finalists
    CHECK(std::count(ledger.begin(), ledger.end(), '\n') == 15 + result.finalists);
    CHECK(text_of(folder.path() / "run/trace.md").find("- path: baseline > `set_tunable@") !=
          std::string::npos);
  }

  TEST_CASE("the winner's source is kept whether or not those of other variants are") {
    const TemporaryFolder folder;
    Options options = small_options(40);
    options.record.keep_variants = false;
    CampaignBench bench(options);
    const SessionResult result = bench.run(folder.path() / "run");
    REQUIRE(result.speedup > 1);
    const fs::path best = fs::read_symlink(folder.path() / "run/best");
    CHECK(best == fs::path("variants") / result.best_key.hex());
    for (const char* name : {"best/source.cu", "best/terms", "best/outcome.json", "best/diff"})
      CHECK(fs::exists(folder.path() / "run" / name));
    fs::remove_all(folder.path() / "run/variants");  // what a resume finds missing it makes again
    static_cast<void>(CampaignBench(options).run(folder.path() / "run", true));
    CHECK(fs::exists(folder.path() / "run/best/source.cu"));
  }

  TEST_CASE("a resume writes damaged files anew and says so") {
    struct Notes final : SessionObserver {
      void on_note(std::string_view line) override { all += std::string(line) + "\n"; }
      std::string all;
    };
    const TemporaryFolder folder;
    const Options options = small_options(10);
    static_cast<void>(CampaignBench(options).run(folder.path() / "run"));
    const std::string spec = text_of(folder.path() / "run/input_spec.json"),
                      device = text_of(folder.path() / "run/device.json");
    test::put_text(folder.path() / "run/input_spec.json", spec.substr(0, spec.size() / 2));
    test::put_text(folder.path() / "run/device.json", "{}");
    CampaignBench again(options);
    Notes notes;
    again.observer = &notes;
    static_cast<void>(again.run(folder.path() / "run", true));
    CHECK(text_of(folder.path() / "run/input_spec.json") == spec);
    CHECK(text_of(folder.path() / "run/device.json") == device);
    CHECK(notes.all.find("input_spec.json: was damaged") != std::string::npos);
    CHECK(notes.all.find("device.json: was damaged") != std::string::npos);
    CampaignBench quiet(options);
    Notes none;
    quiet.observer = &none;
    static_cast<void>(quiet.run(folder.path() / "run", true));
    CHECK(none.all.find("damaged") == std::string::npos);
  }

  TEST_CASE(
      "what is found in a diagnosis stands in the trace under its outcome, after a resume as "
      "well") {
    const TemporaryFolder folder;
    AlteredBench bench(small_options(4), [](Outcome& outcome) {
      outcome.diagnosis =
          Diagnosis{.time_bound_ns = {}, .facts = {{"waves", {0.25, FactSource::measured}}}};
    });
    bench.findings = [](const Outcome& outcome) {
      return outcome.diagnosis
                 ? "- finding: waves " +
                       std::to_string(outcome.diagnosis->facts.at("waves").value) + "\n"
                 : std::string();
    };
    const auto found = [&] {
      const std::string trace = text_of(folder.path() / "run/trace.md");
      int count = 0;
      for (std::size_t at = trace.find("- finding: waves 0.25"); at != std::string::npos;
           at = trace.find("- finding: waves 0.25", at + 1))
        ++count;
      return count;
    };
    static_cast<void>(bench.run(folder.path() / "run"));
    CHECK(found() == 5);  // the baseline and four variants
    bench.options.run.budget_builds = 6;
    static_cast<void>(bench.run(folder.path() / "run", true));
    CHECK(found() == 7);
  }

  TEST_CASE("a space smaller than the budget is searched to its end and its optimum is found") {
    const TemporaryFolder folder;
    Options options = small_options(1000);
    options.of<SyntheticOptions>().noise = 0;
    CampaignBench bench(options);
    const SessionResult result = bench.run(folder.path());
    CHECK(result.stop_reason == "nothing left to try");
    const Landscape landscape(options.of<SyntheticOptions>(), options.run.seed);
    CHECK(result.best_ms * 1e6 == doctest::Approx(landscape.time_ns(landscape.optimum()->point)));
  }

  TEST_CASE(
      "one seed gives one fingerprint, however many are in flight and whatever they take; another "
      "seed another") {
    std::set<std::string> fingerprints;
    for (const int in_flight : {1, 3, 8}) {
      for (const double delay_ms : {0.0, 1.5}) {
        const TemporaryFolder folder;
        Options options = small_options(30);
        options.search.window = 8;
        options.search.in_flight = in_flight;
        options.of<SyntheticOptions>().lanes = 8;
        options.of<SyntheticOptions>().knobs = 4;
        options.of<SyntheticOptions>().delay_ms = delay_ms;
        CampaignBench bench(options);
        fingerprints.insert(bench.run(folder.path()).fingerprint.hex());
      }
    }
    CHECK(fingerprints.size() == 1);
    const TemporaryFolder folder;
    Options options = small_options(30);
    options.search.window = 8;
    options.of<SyntheticOptions>().knobs = 4;
    options.run.seed = 8;
    CampaignBench bench(options);
    CHECK_FALSE(fingerprints.contains(bench.run(folder.path()).fingerprint.hex()));
  }

  TEST_CASE("one at a time needs no deterministic mode to repeat itself") {
    std::set<std::string> fingerprints;
    for (int i = 0; i < 2; ++i) {
      const TemporaryFolder folder;
      Options options = small_options(20, false);
      options.search.in_flight = 1;
      CampaignBench bench(options);
      fingerprints.insert(bench.run(folder.path()).fingerprint.hex());
    }
    CHECK(fingerprints.size() == 1);
  }

  TEST_CASE(
      "a baseline that is wrong ends the run with its reason and exit code 3; a resume measures it "
      "again") {
    const TemporaryFolder folder;
    bool broken = true;
    AlteredBench bench(small_options(5), [&broken](Outcome& outcome) {
      if (!broken) return;
      outcome = {};
      outcome.status = Status::wrong_result;
      outcome.log = "o[3] = 1, expected 2";
    });
    const SessionResult result = bench.run(folder.path());
    CHECK_FALSE(result.baseline_ok);
    CHECK(result.exit_code() == 3);
    CHECK(result.stop_reason == "baseline wrong_result: o[3] = 1, expected 2");
    CHECK(result.builds == 0);
    broken = false;
    CHECK(bench.run(folder.path(), true).builds == 5);
  }

  TEST_CASE("exit codes: 0 for a gain of at least run.min_gain, 2 without") {
    SessionResult result;
    result.baseline_ok = true;
    result.improved = true;
    CHECK(result.exit_code() == 0);
    result.improved = false;
    CHECK(result.exit_code() == 2);
  }

  TEST_CASE(
      "a workload timed in two states of the cache is scored by the first; the ledger compares "
      "each with its like") {
    const TemporaryFolder folder;
    Options options = small_options(12);
    options.of<SyntheticOptions>().noise = 0;
    AlteredBench bench(options, [](Outcome& outcome) {
      if (outcome.timings.empty()) return;
      outcome.timings[0].cache = "hot";
      outcome.timings.push_back(outcome.timings[0]);
      outcome.timings[1].cache = "cold";
      for (double& ns : outcome.timings[1].samples_ns) ns *= 3;
    });
    const SessionResult result = bench.run(folder.path());
    const double baseline_ns = result.baseline_ms * 1e6;
    CHECK(result.baseline_ms / result.best_ms == doctest::Approx(result.searched_speedup));
    std::istringstream ledger(text_of(folder.path() / "ledger.csv"));
    std::size_t rows = 0;
    for (std::string line; std::getline(ledger, line);) {
      std::vector<std::string> fields;
      std::istringstream cells(line);
      for (std::string cell; std::getline(cells, cell, ',');) fields.push_back(cell);
      if (fields[9] != "hot" && fields[9] != "cold") continue;
      ++rows;
      CHECK(std::stod(fields[11]) ==
            doctest::Approx(fields[9] == "cold" ? 3 * baseline_ns : baseline_ns).epsilon(1e-4));
    }
    CHECK(rows > 4);
  }

  TEST_CASE("compiler output in any encoding is recorded") {
    const TemporaryFolder folder;
    AlteredBench bench(small_options(5), [](Outcome& outcome) { outcome.log = "na\xEFve \xFF"; });
    CHECK(bench.run(folder.path()).builds == 5);
    CHECK(bench.run(folder.path(), true).builds == 5);
  }

  TEST_CASE("a run that ends by patience or time says so") {
    const TemporaryFolder folder;
    Options options = small_options(1000);
    options = set_option(options, "run.patience", "3", "test");
    CampaignBench bench(options);
    const SessionResult result = bench.run(folder.path() / "patience");
    CHECK(result.builds < 26);
    CHECK_FALSE(result.stop_reason.empty());
    CHECK(result.stop_reason != "nothing left to try");
    options = small_options(1000);
    options = set_option(options, "run.budget_seconds", "0.05", "test");
    options.of<SyntheticOptions>().delay_ms = 20;
    CampaignBench slow(options);
    const SessionResult cut = slow.run(folder.path() / "time");
    CHECK(cut.builds < 26);
    CHECK(cut.stop_reason.find("second") != std::string::npos);
  }

  TEST_CASE("a run whose time is over does not wait for what is queued: a resume measures that") {
    const TemporaryFolder folder;
    constexpr std::chrono::milliseconds kEach{100};
    Options options = small_options(26, false);
    options.search.in_flight = 20;
    options.run.finalists = 0;
    CampaignBench bench(set_option(options, "run.budget_seconds", "0.15", "test"));
    std::unique_ptr<Runner> queueing;
    bench.make_evaluator = [&](Runner& runner, const KernelSpec& searched) {
      queueing = std::make_unique<QueueingRunner>(runner, 20, kEach);
      return runner_pool(*queueing, searched);
    };
    const auto begin = std::chrono::steady_clock::now();
    const SessionResult cut = bench.run(folder.path());
    CHECK(std::chrono::steady_clock::now() - begin < 15 * kEach);
    CHECK(cut.builds < 15);
    bench.options = options;
    bench.make_evaluator = runner_pool;
    CHECK(bench.run(folder.path(), true).builds == 26);
  }

  TEST_CASE("a run ends when its best is near its bound, and without a bound it is refused") {
    const TemporaryFolder folder;
    double fastest_ns = 1e18;
    const auto bounded = [&](Outcome& outcome) {
      outcome.diagnosis.emplace();
      outcome.diagnosis->time_bound_ns["dram"] = {1, FactSource::measured};
      if (outcome.status == Status::ok)
        fastest_ns = std::min(fastest_ns, median(outcome.timings.front().samples_ns));
    };
    AlteredBench whole(small_options(1000), bounded);
    const std::uint64_t all = whole.run(folder.path() / "whole").builds;
    // A bound that a quarter more than the time of the very best is 0.8 of.
    const double bound_ns = fastest_ns;
    AlteredBench bench(
        set_option(small_options(1000), "run.until", "0.8", "test"), [&](Outcome& outcome) {
          outcome.diagnosis.emplace();
          outcome.diagnosis->time_bound_ns["dram"] = {bound_ns, FactSource::measured};
        });
    const SessionResult near = bench.run(folder.path() / "near");
    CHECK(near.stop_reason == "80 % of the bound");
    CHECK(near.builds < all);
    CHECK_FALSE(near.interrupted);
    // A larger share goes on from there.
    bench.options = set_option(bench.options, "run.until", "1", "test");
    CHECK(bench.run(folder.path() / "near", true).builds > near.builds);
    CampaignBench unbounded(set_option(small_options(1000), "run.until", "0.8", "test"));
    CHECK(error_of([&] { static_cast<void>(unbounded.run(folder.path() / "none")); },
                   ErrorCode::bad_input)
              .find("lower time bound") != std::string::npos);
  }

  TEST_CASE("a run ends when its evaluations have taken so many device seconds") {
    const TemporaryFolder folder;
    AlteredBench bench(set_option(small_options(1000), "run.budget_gpu_seconds", "3", "test"),
                       [](Outcome& outcome) { outcome.run_seconds = 0.25; });
    const SessionResult result = bench.run(folder.path());
    CHECK(result.stop_reason == "3 device seconds");
    CHECK(result.builds >= 11);  // the baseline is one of the twelve
    CHECK(result.builds <= 11 + 4);
    CHECK(bench.run(folder.path(), true).builds == result.builds);
    bench.options = set_option(bench.options, "run.budget_gpu_seconds", "4", "test");
    CHECK(bench.run(folder.path(), true).builds >= 15);
  }

  TEST_CASE("an environment that fails during the search ends it, and what was applied stays") {
    const TemporaryFolder folder;
    int calls = 0;
    AlteredBench bench(small_options(10), [&calls](Outcome&) {
      if (++calls == 5) throw environment_error("the device is gone");
    });
    bench.options.of<SyntheticOptions>().lanes = 1;
    const auto run = [&](bool resume) { return bench.run(folder.path(), resume); };
    CHECK(error_of([&] { static_cast<void>(run(false)); }, ErrorCode::environment) ==
          "the device is gone");
    CHECK(run(true).builds == 10);
  }
}
