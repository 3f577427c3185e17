#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"

using namespace warpath::testing;
using nlohmann::json;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {

std::string axpy(const std::string& file) {
  return (source_root() / "tests" / "data" / "integrity" / "axpy" / file).string();
}

/// A quick and rough search on this machine's processor.
Words search(const TemporaryFolder& out, const Words& more) {
  Words words{"run",
              "--input",
              axpy("spec.json"),
              "--runner",
              "host",
              "--outdir",
              out / "out",
              "--seed",
              "3",
              "--set",
              "host.timing_seconds=0.005",
              "--set",
              "record.sync=never"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string run_of(const TemporaryFolder& out) {
  return out / "out/kernels/axpy";
}

/// Status of each evaluated proposal of `source`, by move.
std::map<std::string, std::string> statuses(const std::string& run, const std::string& source) {
  std::map<std::string, std::string> out;
  std::map<std::uint64_t, std::string> moves;
  for (const std::string& line : lines_of(read_file(run + "/events.jsonl"))) {
    const json event =
        json::parse(line.substr(line.find('{'), line.rfind('}') + 1 - line.find('{')));
    if (event["type"] == "dispatch" && event["source"] == source)
      moves[event["seq"]] = event["instance"]["move"];
    if (event["type"] == "outcome" && moves.contains(event["seq"]))
      out[moves[event["seq"]]] = event["outcome"]["status"];
  }
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("proposals");

TEST_CASE(
    "a file's proposals are evaluated first, under the same gates; what does not apply is named; "
    "an agent goes on where the search ended") {
  const TemporaryFolder out;
  json list =
      json::array({{{"move", "vectors"}, {"source_file", "vectors.cu"}, {"gain", 1.2}},
                   {{"move", "cheat"}, {"source_file", "nothing.cu"}, {"weight", 5}},
                   {{"move", "qualify_pointers"}},
                   {{"move", "misfit"},
                    {"blocks", "<<<<<<< SEARCH\nno such line\n=======\nx\n>>>>>>> REPLACE\n"}},
                   {{"move", "change_block_sizes"}, {"at", "0123456789abcdef0123456789abcdef"}}});
  std::string lines = "# by hand\n\n";
  for (const json& line : list) lines += line.dump() + "\n";
  write_file(out / "p.jsonl", lines);
  fs::copy_file(axpy("honest_vectors.cu"), out / "vectors.cu");
  fs::copy_file(axpy("nothing.cu"), out / "nothing.cu");

  const ProgramResult searched = run_program(
      search(out, {"--proposals", out / "p.jsonl", "--budget-builds", "4", "--finalists", "0"}));
  CAPTURE(searched.err);
  CHECK((searched.code == 0 || searched.code == 2));
  CHECK((searched.out + searched.err).find("p.jsonl:6") != std::string::npos);
  const auto mine = statuses(run_of(out), "file");
  REQUIRE(mine.size() == 3);
  CHECK(mine.at("vectors") == "ok");
  CHECK(mine.at("qualify_pointers") == "ok");
  CHECK(mine.at("cheat") == "wrong_result");

  const ProgramResult asked = run_program({"ask", run_of(out), "--node", "baseline"});
  REQUIRE(asked.code == 0);
  const json question = json::parse(asked.out);
  CHECK(question["source"] == read_file(axpy("axpy.cu")));
  CHECK(question["legal"].size() > 1);
  const std::string prompt = run_program({"prompt", run_of(out), "baseline"}).out;
  CHECK(prompt.find(question["prompt"]["user"].get<std::string>()) != std::string::npos);
  CHECK(prompt.find("qualify_pointers") != std::string::npos);

  const Words tell{"tell", run_of(out), "--node", question["node"], "--move"};
  const auto told = [&](Words more) {
    more.insert(more.begin(), tell.begin(), tell.end());
    return run_program(more);
  };
  const ProgramResult good = told({"stride", "--source", axpy("honest_grid_stride.cu")});
  CAPTURE(good.err);
  CHECK(good.code == 0);
  CHECK(json::parse(good.out)["evaluated"] == true);
  CHECK(json::parse(good.out)["status"] == "ok");
  const ProgramResult again = told({"stride", "--source", axpy("honest_grid_stride.cu")});
  CHECK(json::parse(again.out)["evaluated"] == false);
  CHECK(json::parse(again.out)["key"] == json::parse(good.out)["key"]);
  const ProgramResult wrong = told({"cheat", "--source", axpy("zeros.cu")});
  CHECK(wrong.code == 2);
  CHECK(json::parse(wrong.out)["status"] == "wrong_result");
  CHECK(told({"launch_bounds"}).code == 0);
  const ProgramResult refused = told({"no_such_move"});
  CHECK(refused.code == 64);
  CHECK(refused.err.find("no_such_move") != std::string::npos);
  CHECK(statuses(run_of(out), "tell").size() == 3);

  // What was told is part of the log like anything else.
  fs::remove(run_of(out) + "/search_state.json");
  const ProgramResult resumed =
      run_program({"run", "--resume", "--outdir", out / "out", "--budget-builds", "8"});
  CAPTURE(resumed.err);
  CHECK(resumed.code != 64);
  CHECK(statuses(run_of(out), "tell").size() == 3);
}

TEST_CASE("a proposals file that cannot be read is refused with its line before anything runs") {
  const TemporaryFolder out;
  for (const auto& [line, says] : std::map<std::string, std::string>{
           {"{\"move\": 1}", "move"},
           {"{\"source\": \"x\"}", "move"},
           {"{\"move\": \"a\", \"source\": \"x\", \"blocks\": \"y\"}", "one of"},
           {"{\"move\": \"a\", \"colour\": 1}", "colour"},
           {"not json", "p.jsonl:1"},
           {"", "a proposal a line"}}) {
    CAPTURE(line);
    write_file(out / "p.jsonl", line + "\n");
    const ProgramResult result = run_program(search(out, {"--proposals", out / "p.jsonl"}));
    CHECK(result.code == 64);
    CHECK(result.err.find(says) != std::string::npos);
    CHECK_FALSE(fs::exists(run_of(out)));
  }
}

TEST_SUITE_END();
