#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "engine/base/hash.h"
#include "engine/base/rng.h"
#include "runners/worker/process.h"
#include "tests/experiments/program.h"
#include "tests/experiments/propose/llm_model.h"
#include "tests/support/figure.h"

using namespace warpath::testing;
using namespace warpath::test;
using nlohmann::json;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {

constexpr const char* kVariable = "WARPATH_TEST_RUN_KEY";
const std::string kKey = "sk-campaign-0123456789";
constexpr std::int64_t kMostCalls = 60;
constexpr double kMostMoney = 0.5;

std::string integrity(const std::string& file) {
  return (source_root() / "tests" / "data" / "integrity" / "axpy" / file).string();
}

/// A profile of `codec` in the test's folder, at `url`.
std::string profile_file(const TemporaryFolder& folder,
                         const std::string& codec,
                         const std::string& url) {
  const json profile{
      {"name", "test"},
      {"like", "custom"},
      {"base_url", url},
      {"codec", codec},
      {"auth", "bearer"},
      {"key_env", kVariable},
      {"model", "test-model"},
      {"capabilities", {{"json_schema", true}, {"stream", true}}},
      {"max_output_tokens", 1000},
      {"prices", {{"input", 1}, {"cached", 0.5}, {"cache_write", 1.25}, {"output", 10}}}};
  write_file(folder / "profile.json", profile.dump());
  return folder / "profile.json";
}

ProgramResult run_with_key(const Words& words) {
  setenv(kVariable, kKey.c_str(), 1);
  ProgramResult out = run_program(words);
  unsetenv(kVariable);
  return out;
}

Words synthetic_search(const TemporaryFolder& out,
                       const std::string& profile,
                       const Words& more = {}) {
  Words words{"run",
              "--input",
              integrity("spec.json"),
              "--runner",
              "synthetic",
              "--outdir",
              out / "out",
              "--seed",
              "5",
              "--budget-builds",
              "80",
              "--finalists",
              "0",
              "--llm-profile",
              profile,
              "--llm-in-flight",
              "8",
              "--llm-calls",
              std::to_string(kMostCalls),
              "--llm-money",
              "0.5",
              "--set",
              "search.strategy=mcgs",
              "--set",
              "synthetic.delay_ms=30",
              "--set",
              "synthetic.failure=0",
              "--set",
              "record.sync=never"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

fs::path run_of(const TemporaryFolder& out) {
  return out / "out/kernels/axpy";
}

json json_of(const fs::path& file) {
  return json::parse(read_file(file));
}

std::string fingerprint(const fs::path& run) {
  return json_of(run / "best_summary.json")["fingerprint"];
}

/// What a cassette says was sent and paid.
struct Paid {
  std::int64_t sent = 0;
  double money = 0;  ///< with the worst case of what nobody heard the end of
  /// attempts after the call's answer, or after one whose end a killed process did not hear
  std::int64_t repeated = 0;
};

Paid paid(const fs::path& cassette) {
  struct Call {
    std::set<int> open;
    bool over = false;
  };
  Paid out;
  std::map<std::string, Call> calls;          // by label: prompts of a resumed run tell more
  std::map<std::string, std::string> labels;  // of a request
  std::map<std::string, double> unheard;      // worst case, by request and attempt
  for (const std::string& text : lines_of(read_file(cassette))) {
    const json line = json::parse(text, nullptr, false);
    if (line.is_discarded()) continue;  // cut by a kill
    const std::string request = line["key"].get<std::string>() + "/" + line["occurrence"].dump();
    const std::string attempt = request + "/" + line["attempt"].dump();
    if (line["type"] == "begun") {
      ++out.sent;
      unheard[attempt] = line["worst_cost"].get<double>();
      labels[request] = line["label"];
      Call& call = calls[line["label"]];
      if (call.over || !call.open.empty()) ++out.repeated;
      call.open.insert(line["attempt"].get<int>());
    } else {
      Call& call = calls[labels.at(request)];
      call.open.erase(line["attempt"].get<int>());
      call.over = call.over || line["outcome"] == "answered";
      unheard.erase(attempt);
      out.money += line["cost"].get<double>();
    }
  }
  for (const auto& [attempt, worst] : unheard) out.money += worst;
  return out;
}

/// Files under `folder` that hold `text`.
std::vector<std::string> files_with(const fs::path& folder, const std::string& text) {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && read_file(entry.path()).find(text) != std::string::npos)
      out.push_back(entry.path().string());
  }
  return out;
}

/// Other processes whose environment, as /proc shows it, holds `text`.
std::size_t processes_with(const std::string& text) {
  std::size_t out = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos ||
        name == std::to_string(::getpid()))
      continue;
    std::ifstream file(entry.path() / "environ", std::ios::binary);
    const std::string environment{std::istreambuf_iterator<char>(file),
                                  std::istreambuf_iterator<char>()};
    if (environment.find(text) != std::string::npos) ++out;
  }
  return out;
}

std::size_t evaluated_of(const fs::path& run, const std::string& source) {
  std::size_t out = 0;
  for (const std::string& line : lines_of(read_file(run / "events.jsonl"))) {
    if (line.find("\"type\":\"dispatch\"") != std::string::npos &&
        line.find("\"source\":\"" + source + "\"") != std::string::npos)
      ++out;
  }
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("llm_run");

TEST_CASE(
    "a search goes on though a third of its calls fail, in every format; no limit is passed, the "
    "ledger adds up, and the key is nowhere") {
  std::int64_t overruns = 0;
  for (const std::string codec : {"chat", "responses", "anthropic"}) {
    CAPTURE(codec);
    const TemporaryFolder out;
    HttpServer server(
        Model{.codec = codec, .failures = 0.3, .takes = std::chrono::milliseconds(200)});
    const ProgramResult done =
        run_with_key(synthetic_search(out, profile_file(out, codec, server.url())));
    CAPTURE(done.err);
    CHECK((done.code == 0 || done.code == 2));
    const json summary = json_of(run_of(out) / "llm_summary.json");
    CAPTURE(summary.dump());
    const Paid book = paid(run_of(out) / "llm.jsonl");
    CHECK(json_of(run_of(out) / "best_summary.json")["builds"] == 80);
    CHECK(book.repeated == 0);
    CHECK(summary["spent"]["calls"] == book.sent);
    CHECK(server.requests().size() == static_cast<std::size_t>(book.sent));
    CHECK(summary["spent"]["money"].get<double>() == doctest::Approx(book.money));
    CHECK(summary["calls"]["retries"].get<int>() > 0);
    CHECK(evaluated_of(run_of(out), "llm") > 0);
    CHECK(server.most_at_once() > 1);
    CHECK(server.most_at_once() <= 8);
    if (book.sent > kMostCalls || book.money > kMostMoney) ++overruns;
    CHECK(server.requests().front().header("authorization") == "Bearer " + kKey);
    CHECK(files_with(out.path(), kKey).empty());
    CHECK((done.out + done.err).find(kKey) == std::string::npos);
  }
  CHECK(overruns == 0);
  report_figure("budget_overruns", static_cast<std::uint64_t>(overruns));
}

TEST_CASE("what a killed run had paid for, a resumed one does not pay again") {
  std::uint64_t repeated = 0, kills = 0;
  for (const std::size_t heard : {3U, 9U, 20U}) {
    CAPTURE(heard);
    const TemporaryFolder out;
    HttpServer server(Model{.failures = 0.3, .takes = std::chrono::milliseconds(100)});
    // slow enough for the calls to be made before all builds are
    const Words search = synthetic_search(out, profile_file(out, "chat", server.url()),
                                          {"--set", "synthetic.delay_ms=90"});
    setenv(kVariable, kKey.c_str(), 1);
    {
      RunningProgram program(search);
      REQUIRE(program.wait_until([&] { return server.requests().size() >= heard; }));
      program.signal(SIGKILL);
      static_cast<void>(program.finish());
      ++kills;
    }
    unsetenv(kVariable);
    Words resume = search;
    resume.emplace_back("--resume");
    const ProgramResult done = run_with_key(resume);
    CAPTURE(done.err);
    CHECK((done.code == 0 || done.code == 2));
    const Paid book = paid(run_of(out) / "llm.jsonl");
    CHECK(server.requests().size() <= static_cast<std::size_t>(book.sent));
    CHECK(book.sent <= kMostCalls);
    CHECK(json_of(run_of(out) / "best_summary.json")["builds"] == 80);
    repeated += static_cast<std::uint64_t>(book.repeated);
  }
  CHECK(repeated == 0);
  report_figure("llm_kill_points", kills);
  report_figure("repeated_paid_calls", repeated);
}

TEST_CASE("once the key is read it is in no environment that another process could read") {
  const TemporaryFolder out;
  std::atomic<int> seen{0}, asked{0};
  const Model model;
  HttpServer server([&](const ReceivedRequest& r) {
    ++asked;
    seen += static_cast<int>(processes_with(kKey));
    return model(r);
  });
  {
    const warpath::Child holder(
        {.argv = {"/bin/sleep", "60"}, .environment = {"KEY=" + kKey}, .directory = "/"});
    // So would it be seen, as soon as the kernel shows the new program's environment.
    for (int i = 0; i < 500 && processes_with(kKey) == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(processes_with(kKey) == 1);
  }
  const ProgramResult done =
      run_with_key(synthetic_search(out, profile_file(out, "chat", server.url())));
  CAPTURE(done.err);
  CHECK((done.code == 0 || done.code == 2));
  CHECK(asked > 0);
  CHECK(seen == 0);
}

TEST_CASE(
    "a campaign with a model, its failures included, is repeated bit for bit without network, key "
    "and compiler") {
  const TemporaryFolder out;
  const auto search = [&](const std::string& folder, const std::string& builds, const Words& more) {
    Words words{"run",
                "--input",
                integrity("spec.json"),
                "--outdir",
                out / folder,
                "--seed",
                "3",
                "--deterministic",
                "--budget-builds",
                builds,
                "--finalists",
                "2",
                "--llm-profile",
                out / "profile.json",
                "--evaluations",
                out / "evaluations.jsonl",
                "--set",
                "host.timing_seconds=0.005",
                "--set",
                "record.sync=never"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  {
    HttpServer server(Model{.failures = 0.3,
                            .sources = {read_file(integrity("honest_vectors.cu")),
                                        read_file(integrity("zeros.cu")), "not a kernel"}});
    static_cast<void>(profile_file(out, "chat", server.url()));
    const ProgramResult first =
        run_with_key(search("first", "6", {"--runner", "host", "--evaluations-mode", "record"}));
    CAPTURE(first.err);
    REQUIRE((first.code == 0 || first.code == 2));
  }
  const fs::path first = out / "first/kernels/axpy";
  CHECK(evaluated_of(first, "llm") > 0);
  const std::string ledger = read_file(out / "evaluations.jsonl");
  const char* const path = std::getenv("PATH");
  const std::string kept = path == nullptr ? "" : path;
  setenv("PATH", "/nonexistent", 1);
  const ProgramResult again =
      run_program(search("again", "6",
                         {"--evaluations-mode", "replay", "--llm-cassette", first / "llm.jsonl",
                          "--llm-cassette-mode", "replay"}));
  setenv("PATH", kept.c_str(), 1);
  CAPTURE(again.err);
  REQUIRE((again.code == 0 || again.code == 2));
  const fs::path second = out / "again/kernels/axpy";
  CHECK(fingerprint(second) == fingerprint(first));
  CHECK(json_of(second / "best_summary.json")["speedup"] ==
        json_of(first / "best_summary.json")["speedup"]);
  CHECK(evaluated_of(second, "llm") == evaluated_of(first, "llm"));
  CHECK(read_file(out / "evaluations.jsonl") == ledger);

  // Another way through the search is not invented.
  const ProgramResult other =
      run_program(search("other", "30", {"--evaluations-mode", "replay", "--no-llm"}));
  CHECK(other.code == 64);
  CHECK(other.err.find("evaluations.jsonl") != std::string::npos);
}

TEST_CASE(
    "garbage of every kind costs nothing: over twenty seeds of a recorded space the best found is "
    "not worse than that of rules alone") {
  // A space in the format of Kernel Tuner: three axes of eight levels, the best of them off every
  // axis.
  const TemporaryFolder out;
  json values = json::array(), cache = json::object();
  for (int v = 0; v < 8; ++v) values.push_back(v);
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < 8; ++b) {
      for (int c = 0; c < 8; ++c) {
        const double time = 1 + 0.2 * std::abs(a - 5) + 0.3 * std::abs(b - (a + 2) % 8) +
                            0.1 * std::abs(c - (b + 3) % 8);
        cache[std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(c)] = {
            {"a", a},
            {"b", b},
            {"c", c},
            {"time", time},
            {"compile_time", 1},
            {"benchmark_time", 1}};
      }
    }
  }
  write_file(out / "space.json",
             json{{"device_name", "D"},
                  {"kernel_name", "k"},
                  {"objective", "time"},
                  {"tune_params_keys", {"a", "b", "c"}},
                  {"tune_params", {{"a", values}, {"b", values}, {"c", values}}},
                  {"cache", cache}}
                 .dump());
  const std::vector<std::string> nonsense{"I would rather talk about something else.",
                                          "{}",
                                          R"({"choices": 7})",
                                          chosen({"no_such_move", "by_hand:nothing"}),
                                          std::string(5000, '['),
                                          "```json\n{\"choices\": [{}]}\n```"};
  HttpServer server(Model{.garbage = [&](const std::string& prompt) {
    return nonsense[warpath::hash128(prompt).low % nonsense.size()];
  }});
  const std::string profile = profile_file(out, "chat", server.url());
  int worse = 0;
  for (int seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const auto best = [&](const std::string& folder, const Words& more) {
      Words words{"run",
                  "--input",
                  integrity("spec.json"),
                  "--runner",
                  "replay:" + (out / "space.json").string(),
                  "--outdir",
                  out / folder,
                  "--seed",
                  std::to_string(seed),
                  "--deterministic",
                  "--set",
                  "search.strategy=mcgs",
                  "--budget-builds",
                  "30",
                  "--finalists",
                  "0",
                  "--set",
                  "record.sync=never",
                  "--set",
                  "record.keep_variants=false"};
      words.insert(words.end(), more.begin(), more.end());
      const ProgramResult done = run_with_key(words);
      CAPTURE(done.err);
      REQUIRE((done.code == 0 || done.code == 2));
      return json_of(out.path() / folder / "kernels/axpy/best_summary.json")["speedup"]
          .get<double>();
    };
    const double alone = best("rules" + std::to_string(seed), {"--no-llm"});
    const double with =
        best("model" + std::to_string(seed), {"--llm-profile", profile, "--llm-calls", "4"});
    CHECK(with >= alone);
    if (with < alone) ++worse;
  }
  CHECK(server.requests().size() > 20);
  report_figure("garbage_pairs", 20);
  report_figure("garbage_worse", static_cast<std::uint64_t>(worse));
}

TEST_SUITE_END();
