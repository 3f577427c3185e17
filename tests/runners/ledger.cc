#include <doctest/doctest.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "runners/ledger/ledger_runner.h"
#include "tests/support/campaign_bench.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using test::CampaignBench;
using test::small_options;
using test::TemporaryFolder;
using Mode = EvaluationLedger::Mode;

namespace {

/// A whole campaign over the synthetic runner under a ledger; in the mode `replay` without the
/// runner.
SessionResult campaign(const TemporaryFolder& folder,
                       const std::string& name,
                       Mode mode,
                       std::uint64_t seed = 7) {
  Options options = small_options(20);
  options.run.seed = seed;
  CampaignBench bench(options);
  std::unique_ptr<Runner> inner;
  if (mode != Mode::replay) {
    inner = bench.runners.create(
        "--runner", "synthetic",
        RunnerConfig{.argument = "", .seed = seed, .options = &bench.options, .program = ""});
  }
  const auto runner = ledger_runner(
      std::move(inner), std::make_unique<EvaluationLedger>(folder / "evaluations.jsonl", mode),
      "synthetic", bench.spec, bench.options);
  RuleProposer rules(bench.moves);
  const auto prior =
      bench.priors.create("run.prior", bench.options.run.prior, {.options = &bench.options});
  return run_session({.spec = bench.spec,
                      .options = bench.options,
                      .runner_text = "synthetic",
                      .runner = *runner,
                      .make_evaluator = runner_pool,
                      .moves = bench.moves,
                      .proposers = {&rules},
                      .prior = *prior,
                      .folder = folder / name,
                      .environment_json = "{}"});
}

}  // namespace

TEST_SUITE_BEGIN("ledger");

TEST_CASE(
    "a recorded campaign is repeated bit for bit without its runner, finals included, and nothing "
    "is written") {
  const TemporaryFolder folder;
  const SessionResult first = campaign(folder, "first", Mode::record);
  REQUIRE(first.baseline_ok);
  const std::string ledger = test::text_of(folder / "evaluations.jsonl");
  const SessionResult again = campaign(folder, "again", Mode::replay);
  CHECK(again.fingerprint == first.fingerprint);
  CHECK(again.best_key == first.best_key);
  CHECK(again.speedup == first.speedup);
  CHECK(again.by_status == first.by_status);
  CHECK(again.device == first.device);
  CHECK(test::text_of(folder / "evaluations.jsonl") == ledger);
}

TEST_CASE(
    "a replay that has another seed, or no ledger, is refused; a damaged ledger is named with its "
    "line") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(campaign(folder, "none", Mode::replay), Error);
  static_cast<void>(campaign(folder, "first", Mode::record));
  CHECK_THROWS_AS(campaign(folder, "other", Mode::replay, 8), Error);
  std::string text = test::text_of(folder / "evaluations.jsonl");
  const std::size_t at = text.find("samples_ns");
  REQUIRE(at != std::string::npos);
  text[at] = 'S';
  test::put_text(folder / "evaluations.jsonl", text);
  CHECK_THROWS_WITH_AS(campaign(folder, "damaged", Mode::replay),
                       doctest::Contains("evaluations.jsonl:"), Error);
}

TEST_CASE(
    "one process writes a ledger at a time, and one that was written since it was read is not "
    "written over") {
  const TemporaryFolder folder;
  static_cast<void>(campaign(folder, "first", Mode::record));
  EvaluationLedger one(folder / "evaluations.jsonl", Mode::record),
      other(folder / "evaluations.jsonl", Mode::record);
  one.open();
  CHECK_THROWS_WITH_AS(other.open(), doctest::Contains("another process"), Error);
  CHECK_THROWS_AS(campaign(folder, "second", Mode::record), Error);

  const TemporaryFolder next;
  EvaluationLedger early(next / "evaluations.jsonl", Mode::record);
  static_cast<void>(campaign(next, "first", Mode::record));
  CHECK_THROWS_WITH_AS(early.open(), doctest::Contains("meanwhile"), Error);
}

TEST_CASE(
    "a ledger whose last line was cut is written on from there; what is served is not evaluated "
    "again") {
  const TemporaryFolder folder;
  const SessionResult first = campaign(folder, "first", Mode::record);
  const std::string whole = test::text_of(folder / "evaluations.jsonl");
  test::put_text(folder / "evaluations.jsonl", whole.substr(0, whole.size() - 40));
  const SessionResult again = campaign(folder, "again", Mode::replay_or_live);
  CHECK(again.fingerprint == first.fingerprint);
  CHECK(campaign(folder, "last", Mode::replay).fingerprint == first.fingerprint);
  // Good outcomes of the search were served, so the file did not grow by as much again.
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  const auto grown = lines(test::text_of(folder / "evaluations.jsonl"));
  CHECK(grown >= lines(whole));
  CHECK(grown < 2 * lines(whole) - 8);
}

TEST_SUITE_END();
