#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "experiments/report/derivation_report.h"
#include "tests/experiments/program.h"

using namespace warpath;
using namespace warpath::testing;

namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

/// A run over the synthetic landscape.
std::string synthetic_run(const TemporaryFolder& out, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"run",
                                 "--input",
                                 (source_root() / "specs/softmax_scaled.json").string(),
                                 "--runner",
                                 "synthetic",
                                 "--outdir",
                                 out.path().string()};
  words.insert(words.end(), more.begin(), more.end());
  REQUIRE(run_program(words).code == 0);
  return out / "kernels/softmax_scaled";
}

/// The graph that the log alone tells of: nodes and edges by which they were found.
SearchGraph tree_of(const RecordedRun& run) {
  SearchGraph out;
  bool created = false;
  for (std::size_t i = 0; i < run.nodes().size(); ++i) {
    const NodeId parent = run.nodes()[i].parent;
    const auto depth =
        static_cast<std::uint16_t>(parent == kNoNode ? 0 : out.graph[parent].depth + 1);
    const NodeId node = out.graph.find_or_insert(run.nodes()[i].key, depth, created);
    if (parent == kNoNode) continue;
    out.graph.add_edge(parent, node, 0, 0);
    out.moves.push_back(run.nodes()[i].move);
  }
  return out;
}

std::string section(const RecordedRun& run, const SearchGraph& of) {
  Document page;
  add_derivation(run, of, run.find("best"), page);
  return page.markdown();
}

}  // namespace

TEST_SUITE_BEGIN("inspect");

TEST_CASE(
    "a run, its best node and its baseline can be looked at; unknown and ambiguous nodes are "
    "refused") {
  const TemporaryFolder out;
  const std::string spec = (source_root() / "specs/softmax_scaled.json").string();
  REQUIRE(run_program({"run", "--input", spec, "--runner", "synthetic", "--outdir",
                       out.path().string(), "--budget-builds", "40"})
              .code == 0);
  const std::string run = out / "kernels/softmax_scaled";

  const ProgramResult overview = run_program({"inspect", run});
  CAPTURE(overview.err);
  CHECK(overview.code == 0);
  CHECK(overview.out.find("41 nodes") != std::string::npos);
  CHECK(overview.out.find("seed 1") != std::string::npos);

  const ProgramResult best = run_program({"inspect", run, "best"});
  CHECK(best.code == 0);
  for (const char* part :
       {"path\n", "status    ok", "verdict ", "time ", "diff to the parent", "\nsource\n"}) {
    CAPTURE(part);
    CHECK(best.out.find(part) != std::string::npos);
  }
  const std::string key = best.out.substr(10, 32);
  CHECK(run_program({"inspect", run, key}).out == best.out);
  CHECK(run_program({"inspect", run, key.substr(0, 12)}).out == best.out);
  CHECK(run_program({"inspect", run, "baseline"}).out.find("diff to the parent") ==
        std::string::npos);

  // 41 keys, 16 first digits: some digit begins several.
  int ambiguous = 0;
  for (const char digit : std::string("0123456789abcdef")) {
    const ProgramResult result = run_program({"inspect", run, std::string(1, digit)});
    if (result.code != 64 || result.err.find("more of the key") == std::string::npos) continue;
    ++ambiguous;
    CHECK(lines_of(result.err).size() == 1);
  }
  CHECK(ambiguous > 0);

  CHECK(run_program({"inspect", run, "zz"}).code == 64);
  CHECK(run_program({"inspect", out.path().string()}).code == 64);
  CHECK(run_program({"inspect", out / "absent"}).code == 64);
}

TEST_CASE("the search graph is written for Graphviz and as GraphML, whole or around a node") {
  const TemporaryFolder out;
  const std::string run =
      synthetic_run(out, {"--budget-builds", "40", "--set", "search.strategy=mcgs"});
  const std::string dot = out / "graph.dot", graphml = out / "graph.graphml";
  const RecordedRun recorded(run);
  const SearchGraph of = recorded_search_graph(run, recorded);
  CHECK(of.gap.empty());
  CHECK(of.graph.edge_count() > 40);

  const ProgramResult as_dot = run_program({"inspect", run, "--graph", dot});
  CHECK(as_dot.code == 0);
  CHECK(as_dot.err.empty());
  CHECK(as_dot.out == dot + ": 41 nodes, " + std::to_string(of.graph.edge_count()) + " edges\n");
  const std::string drawn = read_file(dot);
  CHECK(drawn.starts_with("digraph"));
  CHECK(count(drawn, "->") == of.graph.edge_count());
  CHECK(count(drawn, "status=") == 41);
  CHECK(count(drawn, "best=1") == 1);
  CHECK(count(drawn, "on_best_path=1") == recorded.path(recorded.find("best")).size());
  CHECK(count(drawn, "move=\"\"") == 0);  // every edge has one, whichever way it was found

  CHECK(run_program({"inspect", run, "--graph", graphml}).code == 0);
  const std::string document = read_file(graphml);
  CHECK(count(document, "<node ") == 41);
  CHECK(count(document, "<edge ") == of.graph.edge_count());
  CHECK(document.find("attr.name=\"speedup\" attr.type=\"double\"") != std::string::npos);
  CHECK(document.find("attr.name=\"prior\"") != std::string::npos);

  // The baseline, and what it is joined with directly.
  std::set<NodeId> near{NodeId{0}};
  for (std::uint32_t e = 0; e < of.graph.edge_count(); ++e) {
    const Edge& edge = of.graph[EdgeId{e}];
    if (edge.source == NodeId{0} || edge.target == NodeId{0})
      near.insert({edge.source, edge.target});
  }
  CHECK(near.size() < 41);
  CHECK(
      run_program({"inspect", run, "--graph", dot, "--around", "baseline", "--radius", "1"}).code ==
      0);
  CHECK(count(read_file(dot), "status=") == near.size());
  CHECK(run_program({"inspect", run, "--graph", dot, "--around", "best", "--radius", "40"}).code ==
        0);
  CHECK(count(read_file(dot), "status=") == 41);

  // Without the snapshot there is what the log tells.
  std::filesystem::remove(std::filesystem::path(run) / "search_state.json");
  const ProgramResult partly = run_program({"inspect", run, "--graph", dot});
  CHECK(partly.code == 0);
  CHECK(lines_of(partly.err) ==
        std::vector<std::string>{"warpath: search_state.json is missing: only the moves on which "
                                 "variants were found and evaluations went are known"});
  CHECK(count(read_file(dot), "status=") == 41);
  CHECK(count(read_file(dot), "->") >= 40);
  const Graph of_log = recorded_search_graph(run, recorded).graph;
  for (std::uint32_t i = 0; i < of_log.node_count(); ++i) {
    CAPTURE(i);
    CHECK(of_log[NodeId{i}].visits == of.graph[NodeId{i}].visits);
  }
}

TEST_CASE("where a run was killed the graph is that of the last snapshot and of the log after it") {
  const TemporaryFolder out;
  const std::string run =
      synthetic_run(out, {"--budget-builds", "20", "--set", "search.strategy=mcgs"});
  const std::string file = run + "/search_state.json", early = read_file(file);
  REQUIRE(run_program({"run", "--resume", "--outdir", out.path().string(), "--budget-builds", "40"})
              .code == 0);
  const RecordedRun recorded(run);
  const SearchGraph whole = recorded_search_graph(run, recorded);
  CHECK(whole.gap.empty());
  write_file(file, early);
  const SearchGraph grown = recorded_search_graph(run, recorded);
  CHECK(grown.gap.find("older than the log") != std::string::npos);
  REQUIRE(grown.graph.node_count() == 41);
  for (std::uint32_t i = 0; i < 41; ++i) {
    CAPTURE(i);
    const Node &now = grown.graph[NodeId{i}], &then = whole.graph[NodeId{i}];
    CHECK(now.visits == then.visits);
    if (i == 0) continue;
    CHECK(grown.graph[now.first_in].source == recorded.nodes()[i].parent);
    CHECK(grown.moves[index(now.first_in)] == recorded.nodes()[i].move);
  }
  // A snapshot of another run is none.
  const TemporaryFolder other;
  const std::string stranger = synthetic_run(
      other, {"--budget-builds", "20", "--set", "search.strategy=mcgs", "--seed", "2"});
  write_file(file, read_file(stranger + "/search_state.json"));
  const SearchGraph alone = recorded_search_graph(run, recorded);
  CHECK(alone.gap.find("not a state of this log") != std::string::npos);
  CHECK(alone.graph.node_count() == 41);
}

TEST_CASE("what is wrong with a graph that is asked for is said in one line") {
  const TemporaryFolder out;
  const std::string run = synthetic_run(out, {"--budget-builds", "5"});
  const std::string dot = out / "graph.dot";
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {run, "--graph", out / "graph.svg"},
           {run, "--graph", out / "graph"},
           {run, "best", "--graph", dot},
           {"--graph", dot},
           {out / "absent", "--graph", dot},
           {run, "--around", "best"},
           {run, "--graph", dot, "--radius", "2"},
           {run, "--graph", dot, "--around", "zz"},
           {run, "--graph", dot, "--around", "best", "--radius", "0"},
           {run, "--graph", dot, "--around", "best", "--radius", "near"},
           {run, "--graph", dot, "--ncu", "report.csv"}}) {
    std::vector<std::string> all{"inspect"};
    all.insert(all.end(), words.begin(), words.end());
    CAPTURE(words.back());
    const ProgramResult result = run_program(all);
    CHECK(result.code == 64);
    CHECK(lines_of(result.err).size() == 1);
    CHECK_FALSE(std::filesystem::exists(dot));
  }
  CHECK(run_program({"inspect", run, "--graph", out / "absent/graph.dot"}).code == 3);
}

TEST_CASE("the report says how the best can be reached: cycles, the shortest way, what all share") {
  const TemporaryFolder out;
  const std::string folder = synthetic_run(out, {"--budget-builds", "40"});
  const RecordedRun run(folder);
  const NodeId best{static_cast<std::uint32_t>(run.find("best"))};
  const std::vector<std::size_t> path = run.path(index(best));
  REQUIRE(path.size() > 2);

  SearchGraph of = tree_of(run);
  std::string text = section(run, of);
  CHECK(text.find("41 variants and 40 moves between them. No moves in it undo each other.") !=
        std::string::npos);
  CHECK(text.find("No known way to the best kernel is shorter than the path above, of " +
                  std::to_string(path.size() - 1) + " moves.") != std::string::npos);
  for (std::size_t i = 1; i < path.size(); ++i)
    CHECK(text.find(run.nodes()[path[i]].key.short_hex()) != std::string::npos);

  // A short cut, and a way back from the best.
  of.graph.add_edge(NodeId{0}, best, 0, 0);
  of.moves.emplace_back("short_cut");
  of.graph.add_edge(best, NodeId{0}, 0, 0);
  of.moves.emplace_back("");
  of.gap = "something is missing";
  text = section(run, of);
  CHECK(text.find(std::to_string(path.size()) + " variants lie on cycles, where moves undo each "
                                                "other: 1 group.") != std::string::npos);
  CHECK(text.find("It is not complete: something is missing.") != std::string::npos);
  CHECK(text.find("was found by " + std::to_string(path.size() - 1) +
                  " moves; the shortest known way has 1: short") != std::string::npos);
  CHECK(text.find(run.nodes()[path[1]].key.short_hex()) == std::string::npos);
  CHECK(text.find(" or short") != std::string::npos);

  const ProgramResult report = run_program({"report", folder});
  CHECK(report.code == 0);
  CHECK(report.out.find("## Ways to the best kernel") != std::string::npos);
  CHECK(read_file(std::filesystem::path(folder) / "report.html")
            .find("<h2>Ways to the best kernel</h2>") != std::string::npos);
}

TEST_CASE("a run can be looked at whatever options it was searched with") {
  const TemporaryFolder out;
  const std::string folder = synthetic_run(out, {"--budget-builds", "5"});
  const std::string config = folder + "/config.json";
  std::string text = read_file(config);
  text.replace(text.find("\"c_puct\""), 0, "\"recombination\": 0.0, ");
  std::ofstream(config) << text;
  CHECK(run_program({"inspect", folder}).code == 0);
  CHECK(run_program({"report", folder}).code == 0);
  const ProgramResult resumed =
      run_program({"run", "--resume", "--outdir", out.path().string(), "--budget-builds", "9"});
  CHECK(resumed.code == 64);
  CHECK(lines_of(resumed.err).size() == 1);
  CHECK(resumed.err.find("/options/search/recombination: got 0.0, expected no such option") !=
        std::string::npos);
}

TEST_CASE(
    "sources are shown as the model sees them, with a line over all; absent files are refused") {
  const std::string root = source_root().string();
  const ProgramResult seen = run_program(
      {"inspect", "--parse", root + "/specs/softmax_scaled.cu", root + "/specs/rowscan.cu"});
  CAPTURE(seen.err);
  CHECK(seen.code == 0);
  for (const char* part :
       {"kernel softmax_scaled", "j = 1 to C by 1; reduction max into max_value", "; parallel",
        "; scan + into sum", "2 files, 2 kernels, 2 without opaque span (100.00 %)"}) {
    CAPTURE(part);
    CHECK(seen.out.find(part) != std::string::npos);
  }
  CHECK(run_program({"inspect", "--parse", root + "/specs/no_such.cu"}).code == 64);
  CHECK(run_program({"inspect", "--parse", root + "/specs"}).code == 64);
  CHECK(run_program({"inspect"}).code == 64);
}

TEST_CASE(
    "a report of a profiler is read by the rules, as text and as JSON; files without a launch are "
    "refused") {
  const TemporaryFolder out;
  const std::string report = out / "report.csv";
  std::ofstream(report)
      << "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
         "0,k,Duration,us,10\n0,k,Waves Per SM,,0.25\n";
  const ProgramResult text = run_program({"inspect", "--ncu", report});
  CHECK(text.code == 0);
  CHECK(text.out.starts_with("k: 10 us, "));
  CHECK(text.out.find("finding: low_waves_per_sm") != std::string::npos);
  CHECK(text.out.find("unavailable: ") != std::string::npos);
  const ProgramResult json = run_program({"inspect", "--ncu", report, "--json"});
  CHECK(json.code == 0);
  CHECK(json.out.find("\"low_waves_per_sm\"") != std::string::npos);
  std::ofstream(report) << "nothing\n";
  CHECK(run_program({"inspect", "--ncu", report}).code == 64);
  CHECK(run_program({"inspect", "--ncu", out / "absent"}).code == 64);
}

TEST_CASE(
    "a run, a node and the difference of two are there for programs; status is a line a run") {
  const TemporaryFolder out;
  const std::string folder = synthetic_run(out, {"--budget-builds", "12"});
  const nlohmann::json run = nlohmann::json::parse(run_program({"inspect", folder, "--json"}).out);
  CHECK(run.at("name") == "softmax_scaled");
  REQUIRE(run.at("nodes").size() == 13);
  CHECK(run.at("nodes")[0].at("parent").is_null());
  CHECK(run.at("nodes")[0].at("build").is_null());
  const std::string best = run.at("best");
  const nlohmann::json node =
      nlohmann::json::parse(run_program({"inspect", folder, "best", "--json"}).out);
  CHECK(node.at("key") == best);
  CHECK(node.at("outcome").at("status") == "ok");
  CHECK(node.at("path").back() == best);
  CHECK(run_program({"inspect", folder, "--graph", out / "g.dot", "--json"}).code == 64);

  const ProgramResult diff = run_program({"diff", folder, "baseline", "best"});
  CHECK(diff.code == 0);
  CHECK(diff.out.starts_with("--- terms\n+++ terms\n"));
  CHECK(diff.err.find(best.substr(0, 12)) != std::string::npos);
  CHECK(run_program({"diff", folder, "best", "best"}).out.empty());
  CHECK(run_program({"diff", folder, "best", "nothing"}).code == 64);

  const ProgramResult status = run_program({"status", out.path().string()});
  CHECK(status.code == 0);
  CHECK(status.out.find("softmax_scaled  ended: 12 builds") != std::string::npos);
  CHECK(run_program({"status", folder}).out == status.out);
  CHECK(run_program({"status", out / "absent"}).code == 64);
}

TEST_SUITE_END();
