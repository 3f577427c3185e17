#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/log/event_log.h"
#include "engine/log/events.h"
#include "engine/run/run_identity.h"
#include "engine/run/session.h"
#include "engine/run/session_result.h"
#include "engine/run/snapshot.h"
#include "runners/synthetic/options.h"
#include "tests/support/campaign_bench.h"
#include "tests/support/log_story.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using test::CampaignBench;
using test::log_story;
using test::put_text;
using test::small_options;
using test::TemporaryFolder;
using test::text_of;
namespace fs = std::filesystem;

namespace {

std::string error_of(const std::function<void()>& work) {
  try {
    work();
    return "";
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::bad_input);
    return e.what();
  }
}

/// Byte offsets after each line.
std::vector<std::size_t> line_ends(const std::string& text) {
  std::vector<std::size_t> out;
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    out.push_back(at + 1);
  return out;
}

struct NoteTaker final : SessionObserver {
  void on_note(std::string_view text) override { notes.emplace_back(text); }
  void on_outcome(const OutcomeReport& r) override {
    if (r.sequence != kBaselineSequence && ++outcomes == stop_after) source->request_stop();
  }
  void on_final(const FinalReport&) override { ++finals; }
  std::vector<std::string> notes;
  int outcomes = 0;
  int finals = 0;
  int stop_after = -1;
  std::stop_source* source = nullptr;
};

/// One finished run to damage and to resume.
struct FinishedRun {
  explicit FinishedRun(Options options = small_options(12)) : bench(std::move(options)) {
    NoteTaker watcher;
    bench.observer = &watcher;
    result = bench.run(path());
    bench.observer = nullptr;
    finals = watcher.finals;
    log = text_of(path() / "events.jsonl");
    state = text_of(path() / "search_state.json");
  }
  [[nodiscard]] fs::path path() const { return folder.path() / "run"; }
  TemporaryFolder folder;
  CampaignBench bench;
  SessionResult result;
  int finals = 0;  ///< applied, the baseline's included
  std::string log, state;
};

/// Never says the same twice.
class Whimsical final : public Proposer {
 public:
  [[nodiscard]] std::string_view name() const override { return "whimsical"; }
  [[nodiscard]] bool pure() const override { return false; }
  [[nodiscard]] std::vector<Proposal> propose(const ProposalContext& context, Rng&) override {
    Variant variant = context.at.variant;
    variant.compiler_options.push_back("-DCALL=" + std::to_string(++calls));
    Proposal p;
    p.instance = {.move = "text", .site = "", .parameters = {{"text", calls}}};
    p.source = "whimsical";
    p.variant = std::move(variant);
    return {p};
  }
  int calls = 0;
};

}  // namespace

TEST_SUITE("resume") {
  TEST_CASE("a log cut after any event resumes to the same events and the same fingerprint") {
    FinishedRun run;
    const auto expected = log_story(run.path());
    const auto ends = line_ends(run.log);
    for (std::size_t lines = 1; lines <= ends.size(); ++lines) {
      CAPTURE(lines);
      put_text(run.path() / "events.jsonl", run.log.substr(0, ends[lines - 1]));
      fs::remove(run.path() / "search_state.json");
      const SessionResult resumed = run.bench.run(run.path(), true);
      REQUIRE(resumed.fingerprint == run.result.fingerprint);
      REQUIRE(resumed.builds == run.result.builds);
      REQUIRE(resumed.best_key == run.result.best_key);
      REQUIRE(log_story(run.path()) == expected);
    }
  }

  TEST_CASE(
      "with a snapshot after every outcome, a log cut anywhere behind it resumes to the same "
      "bits") {
    Options options = small_options(10);
    options.record.snapshot_every = 1;
    FinishedRun run(options);
    const auto ends = line_ends(run.log);
    // Collects the snapshots by running up to each budget.
    for (int builds = 1; builds <= 9; builds += 2) {
      TemporaryFolder other;
      std::stop_source source;
      NoteTaker watcher;
      watcher.stop_after = builds;
      watcher.source = &source;
      run.bench.observer = &watcher;
      static_cast<void>(run.bench.run(other.path(), false, source.get_token(), source.get_token()));
      run.bench.observer = nullptr;
      CAPTURE(builds);
      REQUIRE(fs::exists(other.path() / "search_state.json"));
      NoteTaker notes;
      run.bench.observer = &notes;
      const SessionResult resumed = run.bench.run(other.path(), true);
      run.bench.observer = nullptr;
      CHECK(notes.notes.empty());  // the snapshot was used
      CHECK(resumed.fingerprint == run.result.fingerprint);
      CHECK(log_story(other.path()) == log_story(run.path()));
    }
  }

  TEST_CASE("a graceful stop loses nothing: the deterministic run goes on to the same graph") {
    FinishedRun run;
    for (int after = 1; after <= 11; after += 2) {
      CAPTURE(after);
      TemporaryFolder other;
      std::stop_source source;
      NoteTaker watcher;
      watcher.stop_after = after;
      watcher.source = &source;
      run.bench.observer = &watcher;
      const SessionResult stopped = run.bench.run(other.path(), false, source.get_token());
      run.bench.observer = nullptr;
      CHECK(stopped.interrupted);
      CHECK(stopped.stop_reason == "interrupted");
      CHECK(stopped.builds >= static_cast<std::uint64_t>(after));
      const SessionResult resumed = run.bench.run(other.path(), true);
      CHECK_FALSE(resumed.interrupted);
      CHECK(resumed.fingerprint == run.result.fingerprint);
      CHECK(log_story(other.path()) == log_story(run.path()));
    }
  }

  TEST_CASE("a log torn in its last line resumes, with a note") {
    FinishedRun run;
    const auto ends = line_ends(run.log);
    fs::remove(run.path() / "search_state.json");
    put_text(run.path() / "events.jsonl", run.log.substr(0, ends[ends.size() - 2] + 30));
    NoteTaker notes;
    run.bench.observer = &notes;
    CHECK(run.bench.run(run.path(), true).fingerprint == run.result.fingerprint);
    REQUIRE(notes.notes.size() == 1);
    CHECK(notes.notes[0].find("events.jsonl:" + std::to_string(ends.size())) != std::string::npos);
  }

  TEST_CASE("a run without the deterministic mode resumes from its recorded order") {
    Options options = small_options(15, false);
    options.search.in_flight = 4;
    options.of<SyntheticOptions>().lanes = 4;
    options.of<SyntheticOptions>().delay_ms = 1;
    FinishedRun run(options);
    const auto ends = line_ends(run.log);
    for (std::size_t lines = 2; lines <= ends.size(); lines += 3) {
      CAPTURE(lines);
      put_text(run.path() / "events.jsonl", run.log.substr(0, ends[lines - 1]));
      fs::remove(run.path() / "search_state.json");
      CHECK(run.bench.run(run.path(), true).builds == 15);
    }
    put_text(run.path() / "events.jsonl", run.log);
    CHECK(run.bench.run(run.path(), true).fingerprint == run.result.fingerprint);
  }

  TEST_CASE("a larger budget continues a finished run; the files are brought up to date") {
    FinishedRun run;
    run.bench.options.run.budget_builds = 20;
    run.bench.options.record.keep_variants = true;
    fs::remove(run.path() / "ledger.csv");
    NoteTaker watcher;
    run.bench.observer = &watcher;
    const SessionResult more = run.bench.run(run.path(), true);
    run.bench.observer = nullptr;
    CHECK(more.builds == 20);
    const std::string ledger = text_of(run.path() / "ledger.csv");
    CHECK(std::count(ledger.begin(), ledger.end(), '\n') == 22 + run.finals + watcher.finals);
    CHECK(std::distance(fs::directory_iterator(run.path() / "variants"),
                        fs::directory_iterator()) == 20);
    CHECK(text_of(run.path() / "trace.md").find("*Session 2 begins") != std::string::npos);
  }

  TEST_CASE("what an impure proposer said is read back, not asked again") {
    Whimsical whimsical;
    CampaignBench bench(small_options(15));
    bench.extra_proposers = {&whimsical};
    TemporaryFolder folder;
    const SessionResult result = bench.run(folder.path());
    const std::string log = text_of(folder.path() / "events.jsonl");
    CHECK(log.find("\"proposer\":\"whimsical\"") != std::string::npos);
    const int calls = whimsical.calls;
    fs::remove(folder.path() / "search_state.json");
    CHECK(bench.run(folder.path(), true).fingerprint == result.fingerprint);
    CHECK(whimsical.calls == calls);
    CHECK(bench.run(folder.path(), true).fingerprint == result.fingerprint);  // by snapshot
    CHECK(whimsical.calls == calls);
  }

  TEST_CASE(
      "a prior that learns as it goes resumes to the same bits, from a log cut anywhere and from "
      "any snapshot") {
    for (const char* prior : {"tactics", "mix"}) {
      CAPTURE(prior);
      Options options = small_options(14);
      options.run.prior = prior;
      options.record.snapshot_every = 1;
      options.tune.builds = 2;
      FinishedRun run(options);
      REQUIRE(run.log.find("\"type\":\"priors\"") != std::string::npos);
      CHECK((run.log.find("\"shares\":{") != std::string::npos) == (options.run.prior == "mix"));
      const auto expected = log_story(run.path());
      const auto ends = line_ends(run.log);
      for (std::size_t lines = 1; lines <= ends.size(); ++lines) {
        CAPTURE(lines);
        put_text(run.path() / "events.jsonl", run.log.substr(0, ends[lines - 1]));
        fs::remove(run.path() / "search_state.json");
        REQUIRE(run.bench.run(run.path(), true).fingerprint == run.result.fingerprint);
        REQUIRE(log_story(run.path()) == expected);
      }
      for (int builds = 1; builds <= 13; builds += 3) {
        CAPTURE(builds);
        TemporaryFolder other;
        std::stop_source source;
        NoteTaker watcher;
        watcher.stop_after = builds;
        watcher.source = &source;
        run.bench.observer = &watcher;
        static_cast<void>(
            run.bench.run(other.path(), false, source.get_token(), source.get_token()));
        run.bench.observer = nullptr;
        REQUIRE(fs::exists(other.path() / "search_state.json"));
        CHECK(run.bench.run(other.path(), true).fingerprint == run.result.fingerprint);
        CHECK(log_story(other.path()) == expected);
      }
    }
  }

  TEST_CASE("a fresh run into a folder that has one is refused and touches nothing") {
    FinishedRun run;
    const std::string message = error_of([&] { static_cast<void>(run.bench.run(run.path())); });
    CHECK(message == run.path().string() +
                         ": got a folder that holds a run, expected --resume to continue it, or "
                         "another --outdir");
    CHECK(text_of(run.path() / "events.jsonl") == run.log);
    CHECK(text_of(run.path() / "search_state.json") == run.state);
  }

  TEST_CASE(
      "other options, another seed or another runner refuse to resume and name what differs") {
    FinishedRun run;
    run.bench.options = set_option(run.bench.options, "search.c_puct", "2", "test");
    CHECK(error_of([&] {
            static_cast<void>(run.bench.run(run.path(), true));
          }).find("search.c_puct=2.0 (0.3 at the start)") != std::string::npos);
    run.bench.options = small_options(12);
    run.bench.options.run.seed = 9;
    CHECK(error_of([&] {
            static_cast<void>(run.bench.run(run.path(), true));
          }).find("events.jsonl:1:/") != std::string::npos);
    run.bench.options = small_options(12);
    run.bench.runner_text = "synthetic:smooth";
    CHECK(error_of([&] {
            static_cast<void>(run.bench.run(run.path(), true));
          }).find("/runner: got synthetic:smooth, expected synthetic,") != std::string::npos);
    run.bench.runner_text = "synthetic";
    run.bench.spec.name = "other";
    CHECK(error_of([&] {
            static_cast<void>(run.bench.run(run.path(), true));
          }).find("/spec: got ") != std::string::npos);
    CHECK(text_of(run.path() / "events.jsonl") == run.log);
  }

  TEST_CASE(
      "a log that the program would not write is refused with file and line, and stays as it is") {
    FinishedRun run;
    const auto rewrite = [&](std::size_t line,
                             const std::function<std::string(std::string)>& change) {
      // A well-sealed log with one other object in it: only the replay can tell.
      const fs::path path = run.path() / "events.jsonl";
      put_text(path, run.log);
      EventReader reader(path);
      std::vector<std::string> objects;
      while (auto object = reader.next()) objects.push_back(*object);
      fs::remove(path);
      EventWriter writer =
          EventWriter::create(path, line == 1 ? change(objects[0]) : objects[0], SyncRule::never);
      for (std::size_t i = 1; i < objects.size(); ++i)
        writer.append(i + 1 == line ? change(objects[i]) : objects[i], false);
      return text_of(path);
    };
    const auto refusal = [&] {
      return error_of([&] { static_cast<void>(run.bench.run(run.path(), true)); });
    };
    const auto expect_refused = [&](std::size_t line,
                                    const std::function<std::string(std::string)>& change) {
      CAPTURE(line);
      fs::remove(run.path() / "search_state.json");
      const std::string damaged = rewrite(line, change);
      CHECK(refusal().find("events.jsonl:" + std::to_string(line) + ":") != std::string::npos);
      CHECK(text_of(run.path() / "events.jsonl") == damaged);
    };
    const auto with = [](const char* key, nlohmann::json value) {
      return [key, value](const std::string& object) {
        auto json = nlohmann::json::parse(object);
        json[key] = value;
        return json.dump();
      };
    };
    const auto first = [&](const char* type) {
      std::istringstream lines(run.log);
      std::string text;
      std::size_t n = 1;
      while (std::getline(lines, text) &&
             text.find("\"type\":\"" + std::string(type) + "\"") == std::string::npos)
        ++n;
      return n;
    };
    expect_refused(1, with("schema", 2));
    expect_refused(1, with("type", "idle"));
    expect_refused(first("baseline"), with("key", hash128("another").hex()));
    expect_refused(first("dispatch"), with("key", hash128("another").hex()));
    expect_refused(first("dispatch"), with("node", 7));
    expect_refused(first("dispatch"),
                   [](const std::string&) { return std::string("{\"type\":\"idle\",\"seq\":0}"); });
    expect_refused(first("dispatch"),
                   [](const std::string&) { return std::string("{\"type\":\"outcome\"}"); });
    expect_refused(first("dispatch") + 1, with("seq", 0));
    const std::size_t last = line_ends(run.log).size();
    REQUIRE(run.finals > 1);  // the last line is a finalist's
    expect_refused(last, with("key", hash128("another").hex()));
    expect_refused(last, with("node", 4'000'000'000U));
    expect_refused(last, with("outcome", "ok"));
  }

  TEST_CASE(
      "a snapshot that is damaged, stale or foreign is not used: a note says so, the result is the "
      "same") {
    FinishedRun run;
    const auto expect_replayed = [&](const std::string& state, const std::string& words) {
      CAPTURE(words);
      put_text(run.path() / "events.jsonl", run.log);
      put_text(run.path() / "search_state.json", state);
      NoteTaker notes;
      run.bench.observer = &notes;
      CHECK(run.bench.run(run.path(), true).fingerprint == run.result.fingerprint);
      run.bench.observer = nullptr;
      REQUIRE(notes.notes.size() == 1);
      CHECK(notes.notes[0].find("search_state.json") != std::string::npos);
      CHECK(notes.notes[0].find(words) != std::string::npos);
    };
    expect_replayed("", "ends in its sum");
    expect_replayed("{}", "ends in its sum");
    for (std::size_t i = 0; i < run.state.size(); i += 211) {
      std::string damaged = run.state;
      damaged[i] = static_cast<char>(damaged[i] ^ 1);
      expect_replayed(damaged, "replayed");
      expect_replayed(run.state.substr(0, i), "replayed");
    }
    Options longer = small_options(14);
    FinishedRun other(longer);
    expect_replayed(other.state, "not a state of this log");
    std::string older = run.state.substr(0, run.state.rfind(",\"sum\":")) + "}";
    const std::string schema = "\"schema\":" + std::to_string(kSnapshotSchema);
    REQUIRE(older.find(schema) != std::string::npos);
    older.replace(older.find(schema), schema.size(), "\"schema\":1");
    const std::string sum = hash128(older).hex();
    older.back() = ',';
    expect_replayed(older + "\"sum\":\"" + sum + "\"}\n",
                    "/schema: got 1, expected " + std::to_string(kSnapshotSchema) +
                        "; the whole log is replayed instead");
  }

  TEST_CASE("a graph that is none is not used; parts that do not fit are refused by name") {
    FinishedRun run;
    CHECK(decode_snapshot(run.state, "state").graph.node_count() == 13);
    const auto changed = [&](const std::function<void(nlohmann::json&)>& change) {
      nlohmann::json document = nlohmann::json::parse(run.state);
      document.erase("sum");
      change(document);
      std::string text = document.dump();
      const std::string sum = hash128(text).hex();
      text.back() = ',';
      return text + "\"sum\":\"" + sum + "\"}\n";
    };
    CHECK(changed([](auto&) {}) == run.state);
    put_text(run.path() / "search_state.json",
             changed([](auto& document) { document["nodes"].erase(12); }));
    NoteTaker notes;
    run.bench.observer = &notes;
    CHECK(run.bench.run(run.path(), true).fingerprint == run.result.fingerprint);
    REQUIRE(notes.notes.size() == 1);
    CHECK(notes.notes[0].find("search_state.json") != std::string::npos);
    put_text(run.path() / "events.jsonl", run.log);
    put_text(run.path() / "search_state.json",
             changed([](auto& document) { document["search"]["next_sequence"] = 11; }));
    CHECK(error_of([&] {
            static_cast<void>(run.bench.run(run.path(), true));
          }).find("search_state.json") != std::string::npos);
  }

  TEST_CASE("config.json gives back the options a run was started with") {
    FinishedRun run;
    const auto recorded = recorded_config(run.path(), run.bench.options);
    REQUIRE(recorded.has_value());
    CHECK(recorded->options == run.bench.options);
    CHECK(recorded->runner_text == "synthetic");
    CHECK_FALSE(recorded_config(run.folder.path() / "nothing", {}).has_value());
    put_text(run.path() / "config.json",
             "{\"runner\":\"synthetic\",\"options\":{\"search\":{\"c_puct\":-1}},\"hash\":\"\"}");
    CHECK(error_of([&] {
            static_cast<void>(recorded_config(run.path(), run.bench.options));
          }).find("config.json:/options/search/c_puct") != std::string::npos);
  }

  TEST_CASE("a run with an option that there is no more is refused in one line that names it") {
    FinishedRun run;
    const auto refused = [&](const std::string& group, const std::string& key) {
      auto config = nlohmann::json::parse(text_of(run.path() / "config.json"));
      config["options"][group][key] = 0.1;
      put_text(run.path() / "config.json", config.dump());
      return error_of([&] { static_cast<void>(recorded_config(run.path(), run.bench.options)); });
    };
    CHECK(
        refused("search", "recombination") ==
        (run.path() / "config.json").string() +
            ":/options/search/recombination: got 0.1, expected no such option: this program lacks "
            "it; continue with the revision that environment.json names");
    CHECK(
        refused("gone", "key").find("/options/gone: got {\"key\":0.1}, expected no such option") !=
        std::string::npos);
  }

  TEST_CASE(
      "a snapshot names the moves of edges that made no node, after a resume from it and after one "
      "from the log") {
    FinishedRun run(small_options(24));
    const Snapshot whole = decode_snapshot(run.state, "search_state.json");
    const auto require_named = [](const Snapshot& snapshot) {
      std::vector<EdgeId> named, links;
      snapshot.links.for_each([&](EdgeId edge, const std::string& text) {
        named.push_back(edge);
        CHECK_FALSE(text.empty());
      });
      for (std::uint32_t i = 0; i < snapshot.graph.edge_count(); ++i) {
        if (snapshot.graph.first_in(snapshot.graph.target(EdgeId{i})) != EdgeId{i})
          links.push_back(EdgeId{i});
      }
      CHECK(named == links);
      return links.size();
    };
    CHECK(require_named(whole) > 3);
    for (const bool from_log : {false, true}) {
      CAPTURE(from_log);
      Options options = small_options(12);
      FinishedRun shorter(options);
      if (from_log) fs::remove(shorter.path() / "search_state.json");
      shorter.bench.options.run.budget_builds = 24;
      static_cast<void>(shorter.bench.run(shorter.path(), true));
      const auto now = load_snapshot(shorter.path() / "search_state.json");
      REQUIRE(now);
      CHECK(now->graph.edge_count() > decode_snapshot(shorter.state, "s").graph.edge_count());
      require_named(*now);
    }
  }
}
