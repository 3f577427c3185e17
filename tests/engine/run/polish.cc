#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/log/event_log.h"
#include "engine/plugin/move.h"
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

/// Every value of every tunable.
class AnyValue final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "any_value"; }
  [[nodiscard]] bool reads_source() const override { return false; }
  [[nodiscard]] bool polishes() const override { return true; }
  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    for (const Tunable& t : context.spec.tunables) {
      for (const std::int64_t value : t.values)
        out.push_back({"any_value", t.name, {{"v", value}}});
    }
    return out;
  }
  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& instance,
                                             std::string& why) const override {
    Variant out = context.variant;
    const auto it = out.tunables.find(instance.site);
    if (it == out.tunables.end()) return why = "no such tunable", std::nullopt;
    it->second = instance.parameters.at("v");
    return out;
  }
};

/// A search of some 250 points in which a move polishes.
CampaignBench bench_of(std::int64_t builds, double share) {
  Options options = small_options(builds);
  options.tune.polish_after = 4;
  options.tune.polish_share = share;
  options.of<SyntheticOptions>().knobs = 5;
  CampaignBench bench(options);
  bench.moves.add("any_value", "", [] { return std::make_unique<AnyValue>(); });
  return bench;
}

std::vector<nlohmann::json> events_of(const fs::path& folder) {
  EventReader reader(folder / "events.jsonl");
  std::vector<nlohmann::json> out;
  while (const auto object = reader.next()) out.push_back(nlohmann::json::parse(*object));
  return out;
}

}  // namespace

TEST_SUITE("polish") {
  TEST_CASE("only the best is polished, after results that were no better, within its share") {
    for (const double share : {0.0, 0.2}) {
      CAPTURE(share);
      TemporaryFolder folder;
      CampaignBench bench = bench_of(60, share);
      CHECK(bench.run(folder.path()).builds == 60);
      double polished = 0, dispatched = 0;
      for (const auto& event : events_of(folder.path())) {
        if (event["type"] != "dispatch") continue;
        ++dispatched;
        if (event["source"] != "polish") {
          CHECK(event["instance"]["move"] != "any_value");
          continue;
        }
        ++polished;
        CHECK(event["instance"]["move"] == "any_value");
        REQUIRE(polished <= share * dispatched + 1e-9);
        CHECK(dispatched > bench.options.tune.polish_after);
      }
      CHECK((polished > 3) == (share > 0));
    }
  }

  TEST_CASE("a log cut after any event resumes to the same graph") {
    TemporaryFolder folder;
    CampaignBench bench = bench_of(24, 0.3);
    const SessionResult whole = bench.run(folder.path());
    const std::string log = text_of(folder.path() / "events.jsonl");
    REQUIRE(log.find("\"polish\"") != std::string::npos);
    for (std::size_t at = log.find('\n'); at != std::string::npos; at = log.find('\n', at + 1)) {
      put_text(folder.path() / "events.jsonl", log.substr(0, at + 1));
      fs::remove(folder.path() / "search_state.json");
      CHECK(bench.run(folder.path(), true).fingerprint == whole.fingerprint);
    }
  }
}
