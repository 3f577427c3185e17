#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/base/error.h"
#include "engine/plugin/objective.h"
#include "engine/spec/spec_load.h"
#include "experiments/setup/candidates.h"
#include "tests/experiments/program.h"

using namespace warpath::testing;
using nlohmann::json;
using Words = std::vector<std::string>;

namespace {

std::string family(const std::string& name, const std::string& file) {
  return (source_root() / "tests" / "data" / "integrity" / name / file).string();
}

/// An evaluation on the host runner, quick and rough, `more` words added.
Words evaluation(const std::string& name, const TemporaryFolder& out, const Words& more) {
  Words words{"evaluate",
              "--input",
              family(name, "spec.json"),
              "--runner",
              "host",
              "--json",
              out / "lines.jsonl",
              "--figures",
              out / "figures.json",
              "--set",
              "host.timing_seconds=0.005",
              "--set",
              "host.launch_seconds=2"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<json> rows(const TemporaryFolder& out) {
  std::vector<json> all;
  for (const std::string& line : lines_of(read_file(out / "lines.jsonl")))
    all.push_back(json::parse(line));
  return all;
}

warpath::KernelSpec spec_of(const std::string& name) {
  return warpath::load_specs(family(name, "spec.json")).front();
}

std::string problem_of(const std::string& line) {
  const TemporaryFolder folder;
  write_file(folder / "list.jsonl", line);
  try {
    static_cast<void>(warpath::read_candidates(spec_of("axpy"), {folder / "list.jsonl"}));
  } catch (const warpath::Error& error) {
    return error.what();
  }
  return "";
}

/// Lines come as evaluations finish, in any order.
const json& named(const std::vector<json>& lines, const std::string& name) {
  const auto it = std::find_if(lines.begin(), lines.end(),
                               [&](const json& line) { return line.at("name") == name; });
  REQUIRE(it != lines.end());
  return *it;
}

}  // namespace

TEST_SUITE_BEGIN("evaluate");

TEST_CASE(
    "a reference kernel that does not run is one line that says whether it crashed or was slow") {
  const auto error_of = [](const std::string& body) {
    const TemporaryFolder folder;
    const json launch{{"grid", {{"x", 1}}}, {"block", {{"x", 32}}}};
    const std::string source = "__global__ void k(int* o, int n) {" + body + "}";
    const json spec{
        {"name", "k"},
        {"kernel",
         {{"source_code", source},
          {"metadata", {{"kernel_name", "k"}}},
          {"io",
           {{"args",
             {{{"name", "o"},
               {"type", "tensor"},
               {"role", "output"},
               {"tensor_spec", {{"shape", {32}}, {"dtype", "int32"}}}},
              {{"name", "n"}, {"type", "int"}, {"value", 0}}}},
            {"launch", launch}}}}},
        {"reference",
         {{"kernel", {{"source_code", source}, {"kernel_name", "k"}, {"launch", launch}}}}}};
    write_file(folder / "k.json", spec.dump());
    const ProgramResult done = run_program({"evaluate", "--input", folder / "k.json", "--runner",
                                            "host", "--set", "host.launch_seconds=0.01"});
    CHECK(done.code == 64);
    CHECK(lines_of(done.err).size() == 1);
    return done.err;
  };
  CHECK(error_of("o[threadIdx.x] = 7 / n;")
            .find("it crashed: an index may leave its array, or a "
                  "divisor be 0") != std::string::npos);
  CHECK(error_of("for (volatile int i = 1; i > n; ) i = 1; o[threadIdx.x] = n;")
            .find("it took longer than 1.1 s") != std::string::npos);
}

TEST_CASE("candidates of a list are judged against what the list expects of them") {
  const TemporaryFolder out;
  const std::string source = "\"source_file\": \"" + family("axpy", "");
  write_file(
      out / "list.jsonl",
      "{\"name\": \"honest\", " + source + "honest_grid_stride.cu\", \"expect\": \"ok\"}\n\n" +
          "{\"name\": \"zeros\", " + source +
          "zeros.cu\", \"row\": 4, \"expect\": \"wrong_result\", \"gates\": [\"reference\"]}\n" +
          "{\"name\": \"text\", \"source\": \"this is no kernel\", \"expect\": \"refused\"}\n" +
          "{\"name\": \"short\", \"launch\": {\"grid\": {\"x\": \"n / 256\"}}, \"expect\": "
          "\"refused\"}\n");
  const ProgramResult result =
      run_program(evaluation("axpy", out, {"--candidates", out / "list.jsonl"}));
  CAPTURE(result.err);
  CAPTURE(result.out);
  CHECK(result.code == 0);
  const auto lines = rows(out);
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].at("baseline") == true);
  CHECK(lines[0].at("speedup") == 1.0);
  for (const json& line : lines) {
    CAPTURE(line.at("name"));
    CHECK(line.at("as_expected") == true);
    CHECK(line.contains("compile_s"));
    CHECK(line.contains("run_s"));
    CHECK((line.at("status") == "ok") == line.contains("time_ms"));
    CHECK((line.at("status") != "ok" || !line.at("timings").at(0).at("samples_ns").empty()));
  }
  CHECK(named(lines, "zeros").at("row") == 4);
  CHECK(named(lines, "text").at("status") == "compile_error");
  CHECK_FALSE(named(lines, "short").at("failed_gate").get<std::string>().empty());
  const json figures = json::parse(read_file(out / "figures.json"));
  CHECK(figures.at("candidates") == 4);
  CHECK(figures.at("verified") == 1);
  CHECK(figures.at("by_status").at("compile_error") == 1);
  CHECK(figures.at("interrupted") == false);
  CHECK(lines_of(result.out).size() == 7);  // label, heading, baseline, four candidates
}

TEST_CASE("a candidate that is not as expected makes exit code 2 and is named") {
  const TemporaryFolder out;
  write_file(out / "list.jsonl", "{\"name\": \"own\", \"expect\": \"refused\"}\n");
  const ProgramResult result =
      run_program(evaluation("axpy", out, {"--candidates", out / "list.jsonl"}));
  CHECK(result.code == 2);
  CHECK(result.out.find("ok (expected refused)") != std::string::npos);
  CHECK(rows(out).at(1).at("as_expected") == false);
}

TEST_CASE("repetitions of the spec's own kernel get inputs of their own") {
  const TemporaryFolder out;
  const ProgramResult result =
      run_program(evaluation("blur", out, {"--repeat", "3", "--stage", "confirmation"}));
  CAPTURE(result.err);
  CHECK(result.code == 0);
  const auto lines = rows(out);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1].at("seed") != lines[2].at("seed"));
  std::set<int> repetitions;
  for (std::size_t i = 1; i < lines.size(); ++i)
    repetitions.insert(lines[i].at("repetition").get<int>());
  CHECK(repetitions == std::set<int>{0, 1, 2});
  CHECK(lines[3].at("stage") == "confirmation");
  CHECK(lines[1].at("binary_key") == lines[2].at("binary_key"));
}

TEST_CASE("without candidates only the baseline is measured") {
  const TemporaryFolder out;
  const ProgramResult result = run_program(evaluation("blur", out, {}));
  CAPTURE(result.err);
  CHECK(result.code == 0);
  CHECK(rows(out).size() == 1);
}

TEST_CASE("a baseline that is wrong ends the evaluation with its reason") {
  const TemporaryFolder out;
  json spec = json::parse(read_file(family("blur", "spec.json")));
  spec["kernel"]["source_file"] = family("blur", "outer_weights_dropped.cu");
  spec["reference"]["kernel"]["source_file"] = family("blur", "blur_reference.cu");
  write_file(out / "spec.json", spec.dump());
  const ProgramResult result =
      run_program({"evaluate", "--input", out / "spec.json", "--runner", "host", "--repeat", "2"});
  CHECK(result.code == 3);
  CHECK(result.err.find("the baseline is no baseline: wrong_result") != std::string::npos);
}

TEST_CASE("combinations of tunables satisfy the constraints, all of them or as many as asked for") {
  const auto spec =
      warpath::load_specs((source_root() / "specs/gemm_bf16_nt.json").string()).front();
  const auto all = warpath::tuned_candidates(spec, SIZE_MAX, 1);
  CHECK(all.size() > 20);
  for (const auto& candidate : all) {
    const std::int64_t threads =
        candidate.variant.tunables.at("BLOCK_X") * candidate.variant.tunables.at("BLOCK_Y");
    CHECK((threads >= 32 && threads <= 1024));
  }
  const auto six = warpath::tuned_candidates(spec, 6, 1);
  CHECK(six.size() == 6);
  CHECK(warpath::tuned_candidates(spec, 6, 1).front().name == six.front().name);
  CHECK_THROWS_AS(static_cast<void>(warpath::tuned_candidates(spec_of("axpy"), 6, 1)),
                  warpath::Error);
}

TEST_CASE("a bad list is refused with file, line and key") {
  CHECK(problem_of("{\"name\": \"a\", \"surprise\": 1}").find("list.jsonl:1") != std::string::npos);
  CHECK(problem_of("{\"name\": \"a\"}\n{\"name\": \"b\", \"expect\": \"maybe\"}")
            .find("list.jsonl:2:/expect") != std::string::npos);
  CHECK(problem_of("{\"name\": \"a\"}\n{\"name\": \"a\"}").find("a name of its own") !=
        std::string::npos);
  CHECK(problem_of("{\"name\": \"\\u001b[31m\"}").find("expected a name on one line") !=
        std::string::npos);
  CHECK(
      problem_of("{\"name\": \"a\", \"tunables\": {\"BLOCK\": 3}}").find("a tunable of the spec") !=
      std::string::npos);
  CHECK(problem_of("{\"name\": \"a\", \"launch\": {\"grid\": {\"w\": 3}}}").find("/launch/grid") !=
        std::string::npos);
  CHECK(problem_of("{\"name\": \"a\"").find("list.jsonl:1") != std::string::npos);
}

TEST_CASE("bad flags are refused with code 64") {
  const std::string spec = family("axpy", "spec.json");
  CHECK(run_program({"evaluate"}).code == 64);
  CHECK(run_program({"evaluate", "--input", spec, "--stage", "quick"}).code == 64);
  CHECK(run_program({"evaluate", "--input", spec, "--tunables", "-3"}).code == 64);
  CHECK(run_program({"evaluate", "--input", spec, "--candidates", "/nowhere.txt"}).code == 64);
  CHECK(run_program({"evaluate", "--input", (source_root() / "specs").string()}).code == 64);
}

TEST_CASE("Ctrl-C finishes what is under way, keeps whole lines and says how far it came") {
  const TemporaryFolder out;
  RunningProgram program(evaluation("axpy", out, {"--repeat", "500"}));
  REQUIRE(program.wait_until(
      [&] { return std::filesystem::exists(out / "lines.jsonl") && rows(out).size() >= 2; }));
  program.signal(SIGINT);
  const ProgramResult result = program.finish();
  CHECK(result.code == 3);
  CHECK(result.err.find("of 500 evaluations") != std::string::npos);
  CHECK(json::parse(read_file(out / "figures.json")).at("finished") == rows(out).size() - 1);
}

TEST_CASE("the interval of a speed-up holds the speed-up and narrows with the noise") {
  warpath::KernelSpec spec;
  spec.workloads.push_back({.name = "w"});
  const auto outcome = [](double middle, double noise) {
    warpath::Outcome out;
    out.status = warpath::Status::ok;
    warpath::WorkloadTiming timing{.workload = "w", .samples_ns = {}, .launch = {}, .cache = "hot"};
    for (int i = 0; i < 31; ++i) timing.samples_ns.push_back(middle * (1 + noise * (i % 7 - 3)));
    out.timings.push_back(timing);
    return out;
  };
  warpath::ObjectiveFunction objective(spec, {}, 0);
  REQUIRE(objective.set_baseline(outcome(200, 0.01)).empty());
  const auto wide =
      warpath::speedup_interval(objective, outcome(200, 0.01), outcome(100, 0.05), 0.95, 200, 1);
  const auto narrow =
      warpath::speedup_interval(objective, outcome(200, 0.001), outcome(100, 0.001), 0.95, 200, 1);
  CHECK(wide.low <= 2.0);
  CHECK(wide.high >= 2.0);
  CHECK(narrow.high - narrow.low < wide.high - wide.low);
  CHECK(std::isnan(warpath::speedup_interval(objective, outcome(200, 0.01), {}, 0.95, 200, 1).low));
}

TEST_SUITE_END();
