#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "runners/replay/recorded_graph.h"
#include "tests/experiments/program.h"

using namespace warpath::testing;
using nlohmann::json;
using warpath::RecordedGraph;
using warpath::Recording;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

TEST_SUITE_BEGIN("record");

namespace {

std::string spec() {
  return (source_root() / "specs/softmax_scaled.json").string();
}
fs::path kernel_folder(const TemporaryFolder& out) {
  return out.path() / "kernels" / "softmax_scaled";
}

ProgramResult sweep(const TemporaryFolder& out, const Words& more = {}) {
  Words words{"sweep",          "--input", spec(),     "--runner",         "synthetic",
              "--max-variants", "60",      "--outdir", out.path().string()};
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words);
}

RecordedGraph graph_of(const fs::path& file) {
  return *std::dynamic_pointer_cast<const RecordedGraph>(warpath::load_recording(file));
}

}  // namespace

TEST_CASE("a sweep evaluates the nearest variants and records them with the moves between them") {
  const TemporaryFolder out;
  const ProgramResult result = sweep(out);
  CAPTURE(result.err);
  REQUIRE((result.code == 0 || result.code == 2));
  const RecordedGraph graph = graph_of(kernel_folder(out) / "softmax_scaled.graph.gz");
  CHECK(graph.rows().size() == 61);
  CHECK(graph.name() == "softmax_scaled");
  std::size_t actions = 0;
  for (std::uint32_t i = 0; i < graph.rows().size(); ++i) actions += graph.node(i).actions.size();
  CHECK(actions >= graph.rows().size() - 1);  // all but the baseline were reached
  CHECK(result.out.find("61 variants") != std::string::npos);

  SUBCASE("recorded again from the folder it is the same, byte for byte") {
    REQUIRE(run_program({"record", kernel_folder(out).string(), "--output", out / "again.graph.gz"})
                .code == 0);
    CHECK(read_file(out / "again.graph.gz") ==
          read_file(kernel_folder(out) / "softmax_scaled.graph.gz"));
  }
  SUBCASE("a search on the graph spends nothing outside it") {
    const TemporaryFolder other;
    const ProgramResult run =
        run_program({"run", "--input", spec(), "--runner",
                     "replay:" + (kernel_folder(out) / "softmax_scaled.graph.gz").string(),
                     "--budget-builds", "500", "--outdir", other.path().string()});
    CAPTURE(run.err);
    REQUIRE((run.code == 0 || run.code == 2));
    const json best = json::parse(read_file(kernel_folder(other) / "best_summary.json"));
    CHECK(best.at("builds").get<std::size_t>() <= 60);
    CHECK(best.at("best_ms").get<double>() * 1e6 == doctest::Approx(graph.best_ns()));
  }
  SUBCASE("a study compares priors on it") {
    write_file(
        out / "s.json",
        R"({"name": "s", "seeds": 3, "budget": 40, "base": {"search": {"strategy": "mcgs"}}, "factors": {"run.prior": ["uniform", "proposer"]}})");
    const ProgramResult study =
        run_program({"ablate", out / "s.json", "--spaces",
                     (kernel_folder(out) / "softmax_scaled.graph.gz").string(), "--outdir",
                     out.path().string()});
    CAPTURE(study.err);
    REQUIRE(study.code == 0);
    CHECK(lines_of(read_file(out.path() / "ablations" / "s" / "runs.csv")).size() == 1 + 2 * 3);
  }
}

TEST_CASE("a sweep that stopped early goes on") {
  const TemporaryFolder out;
  REQUIRE(sweep(out, {"--max-variants=20"}).code == 64);  // given twice
  REQUIRE(run_program({"sweep", "--input", spec(), "--runner", "synthetic", "--max-variants", "20",
                       "--outdir", out.path().string()})
              .code != 64);
  CHECK(graph_of(kernel_folder(out) / "softmax_scaled.graph.gz").rows().size() == 21);
  REQUIRE(sweep(out, {"--resume"}).code != 64);
  CHECK(graph_of(kernel_folder(out) / "softmax_scaled.graph.gz").rows().size() == 61);
}

TEST_CASE("what cannot be recorded or left out is refused in one line") {
  const TemporaryFolder out;
  CHECK(run_program({"record", out.path().string()}).code == 64);
  const ProgramResult unknown =
      run_program({"run", "--input", spec(), "--runner", "synthetic", "--set",
                   "run.without_moves=no_such_move", "--outdir", out.path().string()});
  CHECK(unknown.code == 64);
  CHECK(unknown.err.find("run.without_moves") != std::string::npos);
  write_file(
      out / "s.json",
      R"({"name": "s", "synthetic": ["smooth"], "factors": {"run.without_moves": ["", "no_such_move"]}})");
  CHECK(run_program({"ablate", out / "s.json", "--outdir", out.path().string()}).code == 64);
}

TEST_SUITE_END();
