#include "engine/search/tuner.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "engine/log/event_log.h"
#include "engine/log/events.h"
#include "engine/run/session.h"
#include "engine/run/session_result.h"
#include "tests/support/campaign_bench.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

const std::vector<std::int64_t> kPowers{1, 2, 4, 8, 16, 32, 64, 128};

/// Writes two numbers into the source, once; offers one guess and has a whole range.
class Tile final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "tile"; }
  [[nodiscard]] bool structural() const override { return true; }
  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    if (context.variant.source.find("rows") != std::string::npos) return {};
    return {{"tile", "kernel", {{"columns", 8}, {"rows", 8}}}};
  }
  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&, std::string_view) const override {
    return {{"columns", kPowers, 8, ""}, {"rows", kPowers, 8, ""}};
  }
  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    if (context.variant.source.find("rows") != std::string::npos)
      return why = "tiled already", std::nullopt;
    const std::int64_t columns = wanted.parameters.at("columns"),
                       rows = wanted.parameters.at("rows");
    if (columns * rows > 2048) return why = "too much", std::nullopt;
    Variant out = context.variant;
    out.source = "constexpr int columns = " + std::to_string(columns) +
                 ", rows = " + std::to_string(rows) + ";\n" + out.source;
    return out;
  }
};

/// Best at 32 columns and 4 rows; one value cannot be built.
class TileRunner final : public Runner {
 public:
  [[nodiscard]] std::string_view name() const override { return "tiles"; }
  [[nodiscard]] DeviceFacts device() const override {
    return {.runner = "tiles", .name = "tiles", .arch = ""};
  }
  void prepare(const KernelSpec&) override {}
  [[nodiscard]] Outcome run(const RunRequest& request, std::stop_token) override {
    Outcome out;
    out.status = Status::ok;
    double ns = 1000;
    std::smatch found;
    if (std::regex_search(request.variant.source, found,
                          std::regex("columns = ([0-9]+), rows = ([0-9]+)"))) {
      const double columns = std::log2(std::stod(found[1])) - 5,
                   rows = std::log2(std::stod(found[2])) - 2;
      ns = 500 * std::exp(0.1 * (columns * columns + rows * rows));
      if (found[2] == "16") out.status = Status::compile_error;
    }
    out.verdict.gates = {{"g", GateResult::Answer::pass, ""}};
    if (out.status == Status::ok)
      out.timings = {
          {.workload = "default", .samples_ns = {ns, ns, ns}, .launch = {}, .cache = "cpu"}};
    return out;
  }
};

/// A campaign over the move and the runner above.
struct Bench {
  Bench() {
    options = test::small_options(40);
    options.run.finalists = 0;
    moves.add("tile", "", [] { return std::make_unique<Tile>(); });
    spec = test::stand_in_spec();
    spec.kernel_name = "k";
    spec.source = "__global__ void k() {}\n";
  }
  SessionResult run(const fs::path& folder,
                    bool resume = false,
                    std::stop_token stop = {},
                    SessionObserver* observer = nullptr) {
    TileRunner runner;
    RuleProposer rules(moves);
    const auto prior = priors.create("run.prior", options.run.prior, {.options = &options});
    const SessionSetup setup{.spec = spec,
                             .options = options,
                             .runner_text = "tiles",
                             .runner = runner,
                             .make_evaluator = runner_pool,
                             .moves = moves,
                             .proposers = {&rules},
                             .prior = *prior,
                             .folder = folder,
                             .resume = resume,
                             .environment_json = "{}",
                             .observer = observer};
    return run_session(setup, std::move(stop));
  }
  Options options;
  KernelSpec spec;
  MoveRegistry moves{"move"};
  PriorRegistry priors = registered_priors();
};

struct StopAfter final : SessionObserver {
  void on_outcome(const OutcomeReport& r) override {
    if (r.sequence != kBaselineSequence && --left == 0) source.request_stop();
  }
  int left = 0;
  std::stop_source source;
};

std::size_t tuned(const fs::path& folder) {
  EventReader reader(folder / "events.jsonl");
  std::size_t n = 0;
  while (const auto object = reader.next())
    n += nlohmann::json::parse(*object).value("source", "") == kTuningSource ? 1U : 0U;
  return n;
}

}  // namespace

TEST_SUITE_BEGIN("tuner");

TEST_CASE("the guess of a move is improved by its neighbours, as siblings that count as builds") {
  const TemporaryFolder folder;
  Bench bench;
  bench.options.tune.builds = 20;
  const SessionResult result = bench.run(folder.path() / "run");
  CHECK(result.speedup == doctest::Approx(2));
  CHECK(result.builds == 1 + tuned(folder.path() / "run"));
  CHECK(result.by_status[static_cast<std::size_t>(Status::compile_error)] > 0);
}

TEST_CASE("switched off, nothing but the enumerated instance is tried") {
  const TemporaryFolder folder;
  Bench bench;
  bench.options.tune.builds = 0;
  CHECK(bench.run(folder.path() / "run").builds == 1);
}

TEST_CASE("a site gets no more builds than it may, and none where the move is hopeless") {
  const TemporaryFolder folder;
  Bench bench;
  bench.options.search.window = 1;  // every result is known before the next is asked for
  bench.options.tune.builds = 3;
  CHECK(bench.run(folder.path() / "few").builds == 4);
  bench.options.tune.builds = 20;
  bench.options.tune.patience = 20;
  const std::uint64_t patient = bench.run(folder.path() / "patient").builds;
  bench.options.tune.patience = 1;
  CHECK(bench.run(folder.path() / "impatient").builds < patient);
  bench.spec.source = "constexpr int columns = 32, rows = 4;\n" + bench.spec.source;
  CHECK(bench.run(folder.path() / "tiled").builds == 0);
}

TEST_CASE("a site that falls out of reach of the best is left alone") {
  const TuneOptions options{.reach = 0.7};
  Tuner tuner(options);
  const MoveInstance guess{"tile", "kernel", {{"rows", 8}}};
  tuner.dispatched(kRoot, NodeId{1}, guess, false);
  tuner.measured({.parent = kRoot,
                  .node = NodeId{1},
                  .instance = guess,
                  .ok = true,
                  .reward = 0.1,
                  .best_reward = 0,
                  .structural = true},
                 [] { return std::vector<Tunable>{{"rows", kPowers, 8, ""}}; });
  CHECK(!tuner.next(0.9));
  const auto wanted = tuner.next(0.7);
  REQUIRE(wanted);
  CHECK(wanted->sibling == NodeId{1});
  CHECK(wanted->instance.parameters == MoveParameters{{"rows", 16}});
}

TEST_CASE("stopped anywhere and resumed, a run ends with the graph of an uninterrupted one") {
  const TemporaryFolder folder;
  Bench bench;
  bench.options.tune.builds = 20;
  bench.options.record.snapshot_every = 2;
  const SessionResult whole = bench.run(folder.path() / "whole");
  REQUIRE(whole.builds > 6);
  for (int stop = 1; stop < static_cast<int>(whole.builds); ++stop) {
    for (const bool with_snapshot : {true, false}) {
      CAPTURE(stop);
      CAPTURE(with_snapshot);
      const fs::path path = folder.path() / (std::to_string(stop) + (with_snapshot ? "s" : ""));
      StopAfter watcher;
      watcher.left = stop;
      static_cast<void>(bench.run(path, false, watcher.source.get_token(), &watcher));
      if (!with_snapshot) fs::remove(path / "search_state.json");
      const SessionResult resumed = bench.run(path, true);
      CHECK(resumed.fingerprint == whole.fingerprint);
      CHECK(resumed.builds == whole.builds);
    }
  }
}

TEST_SUITE_END();
