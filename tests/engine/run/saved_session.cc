#include "engine/run/saved_session.h"

#include <doctest/doctest.h>

#include <functional>

#include "engine/base/error.h"
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

/// Copies the folder of a run as a kill after some of its outcomes would have left it.
struct Killer final : SessionObserver {
  Killer(fs::path from, fs::path to, int every)
      : from_(std::move(from)), to_(std::move(to)), every_(every) {}
  void on_note(std::string_view text) override { notes.emplace_back(text); }
  void on_outcome(const OutcomeReport&) override {
    if (++outcomes_ % every_ != 0) return;
    left.push_back(to_ / std::to_string(outcomes_));
    while (!copied(left.back())) fs::remove_all(left.back());
  }
  std::vector<fs::path> left;
  std::vector<std::string> notes;

 private:
  /// False if a file got its final name meanwhile, by the thread that writes tables.
  [[nodiscard]] bool copied(const fs::path& to) const {
    try {
      fs::copy(from_, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    } catch (const fs::filesystem_error& e) {
      if (e.code() != std::errc::no_such_file_or_directory || !fs::exists(from_)) throw;
      return false;
    }
    return true;
  }
  fs::path from_, to_;
  int every_, outcomes_ = 0;
};

Options segmented(std::int64_t builds) {
  Options options = small_options(builds);
  options.record.segment_kib = 4;
  options.record.snapshot_every = 3;
  options.of<SyntheticOptions>().knobs = 4;
  return options;
}

/// A run that is complete, its log in several segments.
struct Complete {
  explicit Complete(const Options& options) : bench(options) { result = bench.run(path()); }
  [[nodiscard]] fs::path path() const { return folder.path() / "run"; }
  /// What resuming it says; empty: nothing.
  std::vector<std::string> resume() {
    Killer notes("", "", 1'000'000);
    bench.observer = &notes;
    CHECK(bench.run(path(), true).fingerprint == result.fingerprint);
    bench.observer = nullptr;
    return notes.notes;
  }
  std::string refusal() {
    try {
      static_cast<void>(bench.run(path(), true));
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::bad_input);
      return e.what();
    }
    return "";
  }
  TemporaryFolder folder;
  CampaignBench bench;
  SessionResult result;
};

}  // namespace

TEST_SUITE("saved_session") {
  TEST_CASE(
      "killed after any outcome and resumed, a campaign in segments ends as it does undisturbed") {
    for (const char* strategy : {"history", "mcgs", "guided"}) {
      for (const char* prior : {"tactics", "mix", "uniform"}) {
        CAPTURE(strategy);
        CAPTURE(prior);
        Options options = segmented(40);
        options.search.strategy = strategy;
        options.run.prior = prior;
        CampaignBench bench(options);
        const TemporaryFolder folder;
        Killer killer(folder / "run", folder.path(), 6);
        bench.observer = &killer;
        const SessionResult whole = bench.run(folder / "run");
        REQUIRE(fs::exists(folder / "run/events.000003.jsonl.gz"));
        const auto expected = log_story(folder / "run");
        for (const fs::path& left : killer.left) {
          CAPTURE(left.filename().string());
          Killer notes("", "", 1'000'000);
          bench.observer = &notes;
          const SessionResult resumed = bench.run(left, true);
          CHECK(notes.notes.empty());
          CHECK(resumed.fingerprint == whole.fingerprint);
          CHECK(resumed.best_key == whole.best_key);
          CHECK(log_story(left) == expected);
        }
      }
    }
  }

  TEST_CASE("a resume from a snapshot leaves the same tables as one that replays the log") {
    Complete run(segmented(30));
    fs::copy(run.path(), run.folder / "replayed",
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    fs::remove(run.folder / "replayed/search_state.json");
    CHECK(run.resume().empty());
    static_cast<void>(run.bench.run(run.folder / "replayed", true));
    const auto rows = [&](const char* name) {
      std::string text = text_of(run.folder / name);
      return text.substr(0, text.rfind("*Session 2"));
    };
    CHECK(rows("run/trace.md") == rows("replayed/trace.md"));
    CHECK(text_of(run.folder / "run/ledger.csv") == text_of(run.folder / "replayed/ledger.csv"));
  }

  TEST_CASE("a snapshot of which a file is missing, cut short or altered is replaced by replay") {
    Complete run(segmented(30));
    for (const char* name : {"variants.records", "trace.md", "ledger.csv"}) {
      CAPTURE(name);
      const fs::path file = run.path() / name;
      const std::string whole = text_of(file);
      fs::remove(file);
      auto notes = run.resume();
      REQUIRE(notes.size() == 1);
      CHECK(notes[0].find(name) != std::string::npos);
      CHECK(notes[0].find("; the whole log is replayed instead") != std::string::npos);
      put_text(file, text_of(file).substr(0, text_of(file).size() / 2));
      CHECK(run.resume().size() == 1);
    }
    const fs::path records = run.path() / "variants.records";
    for (std::size_t i = 0; i < text_of(records).size(); i += 997) {
      std::string damaged = text_of(records);
      damaged[i] = static_cast<char>(damaged[i] ^ 1);
      put_text(records, damaged);
      CHECK(run.resume().size() == 1);
    }
    CHECK(run.resume().empty());
  }

  TEST_CASE(
      "a segment that is missing or altered refuses a resume in one line, and nothing is lost") {
    Complete run(segmented(30));
    const fs::path segment = run.path() / "events.000002.jsonl.gz";
    const std::string whole = text_of(segment);
    for (const bool with_snapshot : {true, false}) {
      CAPTURE(with_snapshot);
      if (!with_snapshot) fs::remove(run.path() / "search_state.json");
      std::string damaged = whole;
      damaged[damaged.size() / 2] ^= 4;
      put_text(segment, damaged);
      CHECK(run.refusal().starts_with(segment.string() + ": got sum"));
      fs::remove(segment);
      CHECK(run.refusal().starts_with(segment.string() + ": expected this segment of the log"));
      put_text(segment, whole);
    }
    CHECK(run.resume().empty());
    CHECK(run.resume().empty());
  }

  TEST_CASE("so many variants have folders as the options say, and the best has one") {
    Options options = segmented(30);
    options.record.keep_variants = true;
    options.record.most_variants = 5;
    Complete run(options);
    std::size_t folders = 0;
    for (const auto& entry : fs::directory_iterator(run.path() / "variants"))
      folders += entry.is_directory() ? 1U : 0U;
    CHECK(folders >= 5);
    CHECK(folders < 25);
    CHECK(fs::exists(run.path() / "best/source.cu"));
    fs::remove_all(run.path() / "variants");
    CHECK(run.resume().empty());
    CHECK(fs::exists(run.path() / "best/source.cu"));
  }
}
