#include <doctest/doctest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"

using namespace warpath::testing;
using nlohmann::json;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

TEST_SUITE_BEGIN("ablate");

namespace {

const char* const kStudy =
    R"({"name": "s", "synthetic": ["smooth", "failing"], "seeds": 4, "budget": 60,
  "factors": {"search.strategy": ["guided", "random", "mcgs"]}})";

fs::path results(const TemporaryFolder& out, const std::string& name = "s") {
  return out.path() / "ablations" / name;
}

/// runs.csv without its last column, the only one that holds times of this machine.
std::string timeless_runs(const TemporaryFolder& out, const std::string& name = "s") {
  std::string text;
  for (const std::string& line : lines_of(read_file(results(out, name) / "runs.csv")))
    text += line.substr(0, line.rfind(',')) + "\n";
  return text;
}

ProgramResult ablate(const TemporaryFolder& out, const Words& more = {}) {
  write_file(out / "s.json", kStudy);
  Words words{"ablate", out / "s.json", "--outdir", out.path().string()};
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words);
}

}  // namespace

TEST_CASE("a study is run, tabulated and drawn, and says the same again") {
  const TemporaryFolder a, b;
  const ProgramResult first = ablate(a);
  CAPTURE(first.err);
  REQUIRE(first.code == 0);
  REQUIRE(ablate(b, {"--threads", "1"}).code == 0);
  CHECK(timeless_runs(a) == timeless_runs(b));
  CHECK(lines_of(read_file(results(a) / "runs.csv")).size() == 1 + 4 * 2 * 3);
  for (const char* file : {"summary.md", "curves.csv", "scores.json", "report.html"}) {
    CAPTURE(file);
    CHECK(fs::file_size(results(a) / file) > 500);
  }
  const json scores = json::parse(read_file(results(a) / "scores.json"));
  CHECK(scores.at("rows").size() == 3 * 3);
  CHECK(first.out.find("strategy=guided") != std::string::npos);
}

TEST_CASE("landscapes of moves are searched from their roots and scored by their optima") {
  const auto study = [](const std::string& family) {
    return R"({"name": "s", "landscapes": {"families": [")" + family +
           R"("], "priors": ["uniform", "informative"], "seeds": [1, 2]}, "seeds": 2, "budget": 200,
  "factors": {"search.strategy": ["history", "random"], "search.draws": ["ordered"]}})";
  };
  const TemporaryFolder a, b;
  for (const TemporaryFolder* out : {&a, &b}) {
    write_file(*out / "s.json", study("pairs_failing"));
    const ProgramResult done =
        run_program({"ablate", *out / "s.json", "--outdir", out->path().string()});
    CAPTURE(done.err);
    REQUIRE(done.code == 0);
  }
  CHECK(timeless_runs(a) == timeless_runs(b));
  CHECK(lines_of(read_file(results(a) / "runs.csv")).size() == 1 + 2 * 4 * 2);
  const json scores = json::parse(read_file(results(a) / "scores.json"));
  double history = 0;
  for (const json& row : scores.at("rows")) {
    const double score = row.at("score");
    CHECK(score >= 0);
    CHECK(score < 1);
    if (row.at("space") != "all") continue;
    if (history == 0) history = score;
    CHECK(score <= history);
  }
  const TemporaryFolder wrong;
  write_file(wrong / "s.json", study("flat"));
  CHECK(run_program({"ablate", wrong / "s.json", "--outdir", wrong.path().string()}).code == 64);
}

TEST_CASE("the quick study of the repository says the same twice") {
  const TemporaryFolder a, b;
  const std::string study = (source_root() / "experiments/studies/quick.json").string();
  const ProgramResult first = run_program({"ablate", study, "--outdir", a.path().string()});
  CAPTURE(first.err);
  REQUIRE(first.code == 0);
  REQUIRE(run_program({"ablate", study, "--outdir", b.path().string(), "--threads", "1"}).code ==
          0);
  CHECK(timeless_runs(a, "quick") == timeless_runs(b, "quick"));
  CHECK(read_file(results(a, "quick") / "summary.md").find("strategy=mcgs") != std::string::npos);
}

TEST_CASE("shards together are the whole, and a study that is there already is not repeated") {
  const TemporaryFolder whole, parts;
  REQUIRE(ablate(whole).code == 0);
  REQUIRE(ablate(parts, {"--shard", "1/2"}).code == 0);
  REQUIRE(ablate(parts, {"--shard", "2/2"}).code == 0);
  const auto rows = [](const std::string& text) { return json::parse(text).at("rows"); };
  json a = rows(read_file(results(whole) / "scores.json")),
       b = rows(read_file(results(parts) / "scores.json"));
  for (json* all : {&a, &b}) {
    for (json& row : *all) row.erase("tuner_ms");
  }
  CHECK(a == b);
  const std::string before = read_file(results(whole) / "runs.csv");
  REQUIRE(ablate(whole).code == 0);
  CHECK(read_file(results(whole) / "runs.csv") == before);
}

TEST_CASE("a study that is killed goes on where it was") {
  const TemporaryFolder whole, killed;
  REQUIRE(ablate(whole, {"--seeds", "24", "--threads", "1"}).code == 0);
  write_file(killed / "s.json", kStudy);
  const Words words{"ablate", killed / "s.json", "--outdir", killed.path().string(), "--seeds",
                    "24",     "--threads",       "1"};
  {
    RunningProgram program(words);
    program.wait_until([&] {
      return fs::exists(results(killed) / "runs.csv") &&
             lines_of(read_file(results(killed) / "runs.csv")).size() > 60;
    });
    program.signal(SIGKILL);
    static_cast<void>(program.finish());
  }
  write_file(results(killed) / "runs.csv",
             read_file(results(killed) / "runs.csv") + "2,strategy=mcgs,synthetic-sm");
  REQUIRE(run_program(words).code == 0);
  CHECK(timeless_runs(killed) == timeless_runs(whole));
}

TEST_CASE("bad studies are refused with file and key") {
  const TemporaryFolder out;
  const auto complaint = [&](const std::string& text) {
    write_file(out / "bad.json", text);
    const ProgramResult result =
        run_program({"ablate", out / "bad.json", "--outdir", out.path().string()});
    CHECK(result.code == 64);
    return result.err;
  };
  CHECK(complaint(R"({"sedes": 3})").find("sedes") != std::string::npos);
  CHECK(complaint(R"({"synthetic": ["smooth"], "factors": {"search.betta": [1]}})").find("betta") !=
        std::string::npos);
  CHECK(complaint(R"({"synthetic": ["smooth"], "factors": {"search.strategy": ["luck"]}})")
            .find("luck") != std::string::npos);
  CHECK(complaint(R"({"synthetic": ["smooth"], "design": "best"})").find("one_at_a_time") !=
        std::string::npos);
  CHECK(
      complaint(
          R"({"synthetic": ["smooth"], "design": "together", "factors": {"search.beta": [1], "search.rho": [1, 2]}})")
          .find("as many values as search.beta") != std::string::npos);
  CHECK(complaint(R"({"factors": {}})").find("--spaces") != std::string::npos);
  CHECK(complaint(R"({"synthetic": ["smooth"], "factors": {"synthetic.failure": [0, 0.4]}})")
            .find("/factors/synthetic.failure") != std::string::npos);
  CHECK(complaint(R"({"synthetic": ["smooth"], "base": {"synthetic": {"failure": 0.4}}})")
            .find("/base/synthetic") != std::string::npos);
  REQUIRE(ablate(out).code == 0);
  write_file(out / "other.json", R"({"name": "s", "synthetic": ["smooth"], "budget": 10})");
  CHECK(run_program({"ablate", out / "other.json", "--outdir", out.path().string()}).code == 64);
}

TEST_CASE(
    "factors that go together, values with commas and empty ones make settings that a resumed "
    "study knows again") {
  const TemporaryFolder out;
  write_file(
      out / "t.json",
      R"({"name": "t", "synthetic": ["smooth"], "budget": 10, "seeds": 2, "design": "together",
  "factors": {"prior.sources": ["uniform,rules", "", "proposer"], "search.beta": [1, 0.5, 0]}})");
  const auto run = [&] {
    return run_program({"ablate", out / "t.json", "--outdir", out.path().string()});
  };
  REQUIRE(run().code == 0);
  const std::string runs = read_file(out.path() / "ablations/t/runs.csv");
  REQUIRE(run().code == 0);
  CHECK(read_file(out.path() / "ablations/t/runs.csv") == runs);
  CHECK(lines_of(runs).size() == 1 + 3 * 2);
  CHECK(runs.find("0,sources=uniform;rules beta=1,") != std::string::npos);
  CHECK(runs.find("1,beta=0.5,") != std::string::npos);
  CHECK(read_file(out.path() / "ablations/t/summary.md").find("sources=uniform,rules beta=1") !=
        std::string::npos);
}

TEST_SUITE_END();
