#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/log/event_log.h"
#include "engine/log/events.h"
#include "engine/plugin/late_proposer.h"
#include "engine/run/session.h"
#include "engine/run/session_result.h"
#include "tests/support/campaign_bench.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using test::CampaignBench;
using test::put_text;
using test::small_options;
using test::TemporaryFolder;
using test::text_of;
namespace fs = std::filesystem;

namespace {

/// A variant of its own: `parent` with the tunables of `spec` drawn at random.
Proposal written_out(const KernelSpec& spec, const Variant& parent, Rng& rng) {
  Proposal out;
  out.variant = parent;
  for (const Tunable& t : spec.tunables)
    out.variant->tunables[t.name] = t.values[rng.below(t.values.size())];
  out.instance = {.move = "set_tunable",
                  .site = "",
                  .parameters = {{std::string(kTextParameter), text_parameter(*out.variant)}}};
  return out;
}

/// Answers some polls after it was offered a node: the legal move of least weight, a variant of its
/// own, and two things that no node can take.
class Slow final : public LateProposer {
 public:
  Slow(double share, int polls) : share_(share), polls_(polls) {}
  [[nodiscard]] std::string_view name() const override { return "slow"; }
  void offer(const Offer& offer) override {
    ++offers;
    Arrival arrival{.key = offer.context.node_key, .share = share_, .proposals = {}};
    if (!offer.legal.empty()) arrival.proposals.push_back(offer.legal.back());
    Rng rng(offer.context.node_key.low, "written");
    arrival.proposals.push_back(written_out(offer.context.at.spec, offer.context.at.variant, rng));
    arrival.proposals.push_back({.instance = {.move = "no_such_move", .site = "", .parameters = {}},
                                 .variant = std::nullopt,
                                 .why = ""});
    arrival.proposals.push_back(
        {.instance = {.move = "set_tunable", .site = "unchanged", .parameters = {}},
         .variant = offer.context.at.variant,
         .why = ""});
    ready_.push_back(std::move(arrival));
    left_ = polls_;
  }
  void learn(const Lesson& lesson) override { lessons += lesson.source == name() ? 1 : 0; }
  [[nodiscard]] std::vector<Arrival> take() override {
    return left_ > 0 ? std::vector<Arrival>{} : std::exchange(ready_, {});
  }
  [[nodiscard]] bool waiting() override { return left_ > 0 && --left_ > 0; }
  void close() override { closed = true; }
  int offers = 0, lessons = 0;
  bool closed = false;

 private:
  double share_;
  int polls_;
  int left_ = 0;
  std::vector<Arrival> ready_;
};

std::vector<nlohmann::json> events_of(const fs::path& folder, const std::string& type) {
  EventReader reader(folder / "events.jsonl");
  std::vector<nlohmann::json> out;
  while (const auto object = reader.next()) {
    auto json = nlohmann::json::parse(*object);
    if (json["type"] == type) out.push_back(std::move(json));
  }
  return out;
}

}  // namespace

TEST_SUITE("late") {
  TEST_CASE(
      "late proposals are evaluated under the node that they were made for, what is useless is "
      "not, and the proposer learns") {
    Slow slow(1, 3);
    CampaignBench bench(small_options(20));
    bench.late = {&slow};
    TemporaryFolder folder;
    const SessionResult result = bench.run(folder.path());
    CHECK(result.builds == 20);
    CHECK(slow.closed);
    const auto arrivals = events_of(folder.path(), "arrival");
    CHECK(arrivals.size() == static_cast<std::size_t>(slow.offers));
    int mine = 0;
    for (const auto& dispatch : events_of(folder.path(), "dispatch")) {
      if (dispatch["source"] != "slow") continue;
      ++mine;
      CHECK(dispatch["instance"]["move"] == "set_tunable");
      CHECK(dispatch["instance"].value("site", "") != "unchanged");
    }
    CHECK(mine > 4);
    CHECK(slow.lessons == mine);
  }

  TEST_CASE("they take no more than their share as long as the search has others") {
    for (const double share : {0.0, 0.25, 0.5}) {
      CAPTURE(share);
      Slow slow(share, 0);
      CampaignBench bench(small_options(20, false));
      bench.late = {&slow};
      TemporaryFolder folder;
      static_cast<void>(bench.run(folder.path()));
      const auto dispatches = events_of(folder.path(), "dispatch");
      double mine = 0;
      for (std::size_t i = 0; i < dispatches.size(); ++i) {
        mine += dispatches[i]["source"] == "slow" ? 1 : 0;
        REQUIRE(mine <= share * static_cast<double>(i + 1) + 1e-9);
      }
      CHECK((mine > 0) == (share > 0));
    }
  }

  TEST_CASE("a log cut after any event resumes to the same graph") {
    CampaignBench bench(small_options(14));
    Slow first(0.5, 2);
    bench.late = {&first};
    TemporaryFolder folder;
    const SessionResult whole = bench.run(folder.path());
    const std::string log = text_of(folder.path() / "events.jsonl");
    for (std::size_t at = log.find('\n'); at != std::string::npos; at = log.find('\n', at + 1)) {
      CAPTURE(std::count(log.begin(), log.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
      put_text(folder.path() / "events.jsonl", log.substr(0, at + 1));
      fs::remove(folder.path() / "search_state.json");
      Slow again(0.5, 2);
      bench.late = {&again};
      REQUIRE(bench.run(folder.path(), true).fingerprint == whole.fingerprint);
    }
  }

  TEST_CASE(
      "what a kill leaves after any outcome, the snapshot of the one before included, resumes to "
      "the same graph") {
    struct Kills final : SessionObserver {
      void on_outcome(const OutcomeReport&) override {
        if (fs::exists(folder / "search_state.json"))
          left.emplace_back(text_of(folder / "events.jsonl"),
                            text_of(folder / "search_state.json"));
      }
      void on_note(std::string_view note) override { notes += note; }
      fs::path folder;
      std::vector<std::pair<std::string, std::string>> left;  // log, snapshot
      std::string notes;
    } kills;
    Options options = small_options(14);
    options.record.snapshot_every = 1;
    CampaignBench bench(options);
    Slow first(0.5, 2);
    bench.late = {&first};
    bench.observer = &kills;
    TemporaryFolder folder;
    kills.folder = folder.path();
    const SessionResult whole = bench.run(folder.path());
    const auto left = std::exchange(kills.left, {});
    CHECK(left.size() > 10);
    for (const auto& [log, snapshot] : left) {
      CAPTURE(std::count(log.begin(), log.end(), '\n'));
      put_text(folder.path() / "events.jsonl", log);
      put_text(folder.path() / "search_state.json", snapshot);
      Slow again(0.5, 2);
      bench.late = {&again};
      REQUIRE(bench.run(folder.path(), true).fingerprint == whole.fingerprint);
      REQUIRE(kills.notes == "");  // the snapshot was used
    }
  }

  TEST_CASE(
      "a session of late proposals alone evaluates those that go first, whatever the limits are, "
      "and nothing else; the log replays") {
    Slow other(0.1, 0);
    Options options = small_options(10);
    options = set_option(options, "run.patience", "3", "test");
    CampaignBench bench(options);
    bench.late = {&other};
    TemporaryFolder folder;
    const SessionResult before = bench.run(folder.path());
    struct Told final : LateProposer {
      [[nodiscard]] std::string_view name() const override { return "told"; }
      void offer(const Offer& offer) override {
        if (std::exchange(said, true)) return;
        Rng rng(1, "told");
        ready = {{.key = offer.context.node_key, .share = 1, .proposals = {}}};
        for (int i = 0; i < 40; ++i)
          ready[0].proposals.push_back(
              written_out(offer.context.at.spec, offer.context.at.variant, rng));
      }
      void learn(const Lesson&) override {}
      [[nodiscard]] std::vector<Arrival> take() override { return std::exchange(ready, {}); }
      [[nodiscard]] bool waiting() override { return false; }
      void close() override {}
      bool said = false;
      std::vector<Arrival> ready;
    } told;
    bench.late = {&told};
    bench.only_late = true;
    const SessionResult after = bench.run(folder.path(), true);
    CHECK(after.builds > before.builds);
    const auto dispatches = events_of(folder.path(), "dispatch");
    for (std::size_t i = before.builds; i < dispatches.size(); ++i)
      CHECK(dispatches[i]["source"] == "told");
    bench.late = {};
    bench.only_late = false;
    bench.options = set_option(bench.options, "run.patience", "3", "test");
    fs::remove(folder.path() / "search_state.json");
    const SessionResult replayed = bench.run(folder.path(), true);
    CHECK(replayed.builds == after.builds);
    CHECK(replayed.fingerprint == after.fingerprint);
  }
}
