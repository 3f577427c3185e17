#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"

using namespace warpath::testing;
using nlohmann::json;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

TEST_SUITE_BEGIN("learn");

namespace {

fs::path spec(const std::string& kernel) {
  return source_root() / "specs" / (kernel + ".json");
}
fs::path graph(const fs::path& out, const std::string& kernel) {
  return out / "kernels" / kernel / (kernel + ".graph.gz");
}

/// Graphs of two kernels, of times that a landscape draws.
Words graphs(const fs::path& out) {
  Words files;
  for (const std::string kernel : {"softmax_scaled", "hist256"}) {
    const ProgramResult result =
        run_program({"sweep", "--input", spec(kernel).string(), "--runner", "synthetic",
                     "--max-variants", "40", "--outdir", out.string()});
    CAPTURE(result.err);
    REQUIRE((result.code == 0 || result.code == 2));
    files.push_back(graph(out, kernel).string());
  }
  return files;
}

ProgramResult with_files(Words words, const Words& files, const Words& more) {
  words.insert(words.end(), files.begin(), files.end());
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words);
}

ProgramResult run(const fs::path& out, const std::string& builds, const Words& more) {
  Words words{"run",       "--input",         spec("softmax_scaled").string(),
              "--runner",  "synthetic",       "--budget-builds",
              builds,      "--deterministic", "--outdir",
              out.string()};
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words);
}

std::string fingerprint(const fs::path& out) {
  return json::parse(read_file(out / "kernels/softmax_scaled/best_summary.json")).at("fingerprint");
}

}  // namespace

TEST_CASE(
    "models and tactic graphs are made of graphs, each kernel left out once, and steer studies and "
    "runs") {
  const TemporaryFolder out;
  const Words files = graphs(out.path());
  const ProgramResult trained =
      with_files({"train"}, files,
                 {"--output", out / "m.json", "--folds", out / "folds", "--json", out / "v.json"});
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  const json rows = json::parse(read_file(out / "v.json"));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("kernel") == "hist256");
  CHECK(trained.out.find("log loss") != std::string::npos);
  CHECK(json::parse(read_file(out / "folds/hist256.model.json")).at("kernels") ==
        json{"softmax_scaled"});
  CHECK(json::parse(read_file(out / "m.json")).at("kernels") == json{"hist256", "softmax_scaled"});

  const ProgramResult tactics =
      with_files({"tactics"}, files, {"--outdir", out.path().string(), "--folds", out / "folds"});
  CAPTURE(tactics.err);
  REQUIRE(tactics.code == 0);
  const auto memory = lines_of(read_file(out / "memory.jsonl"));
  const json edges = json::parse(read_file(out / "tactic_graph.json")).at("edges");
  double tried = 0, others = 0;
  for (const json& edge : edges) tried += edge.at("tried").get<double>();
  CHECK(tried == static_cast<double>(memory.size()));
  const json without = json::parse(read_file(out / "folds/hist256.tactics.json")).at("edges");
  for (const json& edge : without) others += edge.at("tried").get<double>();
  CHECK(others == static_cast<double>(std::ranges::count_if(memory, [](const std::string& line) {
          return json::parse(line).at("kernel") == "softmax_scaled";
        })));

  SUBCASE("made again they are the same, byte for byte") {
    const std::string model = read_file(out / "m.json"), lines = read_file(out / "memory.jsonl");
    REQUIRE(with_files({"train"}, files, {"--output", out / "again.json"}).code == 0);
    CHECK(read_file(out / "again.json") == model);
    REQUIRE(with_files({"tactics"}, files, {"--outdir", out.path().string()}).code == 0);
    CHECK(read_file(out / "memory.jsonl") == lines);
  }
  SUBCASE("a study takes each kernel's own files") {
    const std::string folds = out / "folds";
    write_file(
        out / "s.json",
        R"({"name": "s", "seeds": 2, "budget": 30, "base": {"search": {"strategy": "mcgs"}, "prior": {"model": ")" +
            folds + R"(/{kernel}.model.json", "tactics": ")" + folds +
            R"(/{kernel}.tactics.json"}}, "factors": {"run.prior": ["uniform", "tactics", "learned", "mix"]}})");
    const ProgramResult study = with_files({"ablate", out / "s.json", "--spaces"}, files,
                                           {"--outdir", out.path().string()});
    CAPTURE(study.err);
    REQUIRE(study.code == 0);
    const json scores = json::parse(read_file(out.path() / "ablations/s/scores.json")).at("rows");
    for (const json& row : scores) {
      if (row.at("space") == "all") continue;
      CHECK(row.at("to95").get<double>() >= 1);
      CHECK(row.at("to95").get<double>() <= 31);
    }
    CHECK(read_file(out.path() / "ablations/s/summary.md").find("evaluations to 95 %") !=
          std::string::npos);
    fs::remove(out.path() / "folds/hist256.model.json");
    const ProgramResult missing = with_files({"ablate", out / "s.json", "--spaces"}, files,
                                             {"--outdir", (out.path() / "other").string()});
    CHECK(missing.code == 64);
    CHECK(missing.err.find("hist256.model.json") != std::string::npos);
  }
  SUBCASE(
      "a run keeps what its prior began with, and resumes to the same graph though others learned "
      "meanwhile") {
    const TemporaryFolder alone, among;
    for (const auto* const folder : {&alone, &among}) {
      fs::copy(out.path() / "tactic_graph.json", folder->path() / "tactic_graph.json");
      const ProgramResult first = run(folder->path(), "10",
                                      {"--prior", "mix", "--prior-model", out / "m.json",
                                       "--tactic-graph", "auto", "--min-pred-gain", "0.01"});
      CAPTURE(first.err);
      REQUIRE((first.code == 0 || first.code == 2));
      CHECK(read_file(folder->path() / "kernels/softmax_scaled/prior_model.json") ==
            read_file(out / "m.json"));
      CHECK(read_file(folder->path() / "kernels/softmax_scaled/tactic_graph.json") ==
            read_file(out / "tactic_graph.json"));
    }
    REQUIRE(run(alone.path(), "25", {"--resume"}).code != 64);
    write_file(among / "tactic_graph.json",
               R"({"format": "warpath-tactics", "version": 1, "edges": []})");
    write_file(out / "m.json", "damaged");
    const ProgramResult second = run(among.path(), "25", {"--resume"});
    CAPTURE(second.err);
    REQUIRE((second.code == 0 || second.code == 2));
    CHECK(fingerprint(among.path()) == fingerprint(alone.path()));
  }
}

TEST_CASE(
    "a run on a machine is remembered beside its folder, once however often it is resumed; a model "
    "of one is not") {
  const TemporaryFolder out;
  const Words words{
      "run",      "--input", spec("hist256").string(),   "--runner", "host",
      "--no-llm", "--set",   "host.timing_seconds=0.01", "--outdir", out.path().string()};
  const auto with_budget = [&](const char* builds, const Words& more = {}) {
    Words all = words;
    all.insert(all.end(), {"--budget-builds", builds});
    all.insert(all.end(), more.begin(), more.end());
    return run_program(all);
  };
  const ProgramResult first = with_budget("3");
  CAPTURE(first.err);
  REQUIRE((first.code == 0 || first.code == 2));
  auto lines = lines_of(read_file(out / "memory.jsonl"));
  REQUIRE(lines.size() == 3);
  const json line = json::parse(lines[0]);
  CHECK(line.at("kernel") == "hist256");
  CHECK(line.at("context").get<std::string>().starts_with("host/"));
  REQUIRE((with_budget("5", {"--resume"}).code != 64));
  lines = lines_of(read_file(out / "memory.jsonl"));
  CHECK(lines.size() == 5);
  const std::string graph = read_file(out / "tactic_graph.json"),
                    memory = read_file(out / "memory.jsonl");
  REQUIRE(run_program({"tactics", "--outdir", out.path().string()}).code == 0);
  CHECK(read_file(out / "tactic_graph.json") == graph);

  REQUIRE(run(out.path(), "20", {}).code != 64);
  CHECK(read_file(out / "memory.jsonl") == memory);
}

TEST_CASE("what cannot be learned from is refused in one line") {
  const TemporaryFolder out;
  const auto refused = [&](const Words& words, const char* what) {
    const ProgramResult result = run_program(words);
    CAPTURE(result.err);
    CHECK(result.code == 64);
    CHECK(result.err.find(what) != std::string::npos);
    CHECK(lines_of(result.err).size() == 1);
  };
  refused({"train", out.path().string()}, "a run folder");
  refused({"train", out / "none.gz"}, "none.gz");
  refused({"tactics", "--outdir", out.path().string()}, "expected runs or graphs");
  const std::string softmax = spec("softmax_scaled").string();
  refused({"run", "--input", softmax, "--runner", "synthetic", "--prior", "learned", "--outdir",
           out.path().string()},
          "prior.model");
  refused({"run", "--input", softmax, "--runner", "synthetic", "--prior", "mix", "--prior-model",
           out / "none.json", "--outdir", out.path().string()},
          "prior.model");
  refused({"run", "--input", softmax, "--runner", "synthetic", "--prior", "mix", "--set",
           "prior.sources=none", "--outdir", out.path().string()},
          "prior.sources");
  CHECK_FALSE(fs::exists(out.path() / "kernels"));
}

TEST_CASE(
    "a draft model is made of graphs with diagnoses, and a run that it steers keeps it and what it "
    "said") {
  const TemporaryFolder out;
  Words files;
  for (const std::string kernel : {"bias_gelu_res", "spmv_csr"})
    files.push_back((source_root() / "experiments/graphs" / (kernel + ".graph.gz")).string());
  const ProgramResult trained =
      with_files({"train", "--drafts"}, files,
                 {"--output", out / "d.json", "--folds", (out.path() / "folds").string()});
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  CHECK(fs::exists(out.path() / "folds/spmv_csr.draft_model.json"));
  CHECK(trained.out.find("trials of 2 kernels") != std::string::npos);

  const TemporaryFolder alone, among, base;
  std::string model = out / "d.json";
  const auto search = [&](const fs::path& folder, const std::string& builds, const Words& more) {
    Words words{"run",
                "--input",
                spec("spmv_csr").string(),
                "--runner",
                "replay:" + files[1],
                "--budget-builds",
                builds,
                "--deterministic",
                "--prior",
                "drafted",
                "--draft-model",
                model,
                "--outdir",
                folder.string()};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult result = run_program(words);
    CAPTURE(result.err);
    REQUIRE((result.code == 0 || result.code == 2));
  };
  const auto fingerprint_of = [](const fs::path& folder) {
    return json::parse(read_file(folder / "kernels/spmv_csr/best_summary.json")).at("fingerprint");
  };
  for (const auto* const folder : {&alone, &among}) search(folder->path(), "8", {});
  CHECK(read_file(among.path() / "kernels/spmv_csr/draft_model.json") == read_file(out / "d.json"));
  search(alone.path(), "20", {"--resume"});
  write_file(out / "d.json", "damaged");
  search(among.path(), "20", {"--resume"});
  CHECK(fingerprint_of(among.path()) == fingerprint_of(alone.path()));
  model = out / "folds/{kernel}.draft_model.json";
  search(base.path(), "8", {"--set", "prior.drafts=0"});
  search(base.path(), "20", {"--resume"});
  CHECK(read_file(base.path() / "kernels/spmv_csr/draft_model.json") ==
        read_file(out / "folds/spmv_csr.draft_model.json"));
  CHECK(fingerprint_of(base.path()) != fingerprint_of(alone.path()));
}

TEST_SUITE_END();
