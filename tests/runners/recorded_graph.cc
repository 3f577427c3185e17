#include <doctest/doctest.h>

#include <fstream>

#include "engine/base/compression.h"
#include "engine/base/error.h"
#include "engine/plugin/options.h"
#include "engine/search/search.h"
#include "register_runners.h"
#include "runners/replay/options.h"
#include "runners/replay/recorded_graph.h"
#include "runners/replay/virtual_lab.h"
#include "tests/support/campaign_bench.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using test::TemporaryFolder;

TEST_SUITE_BEGIN("recorded_graph");

namespace {

KernelSpec small_spec() {
  KernelSpec spec = test::storing_spec();
  spec.name = "small";
  return spec;
}

/// `width` variants a step away from the baseline, and a better one a step behind each of them; the
/// last of the first step failed.
RecordedGraph small_graph(std::uint32_t width = 4) {
  const KernelSpec spec = small_spec();
  std::vector<RecordedGraph::Node> nodes;
  std::vector<Recording::Row> rows;
  const auto add = [&](double time_ns) {
    RecordedGraph::Node node{.variant = baseline_variant(spec), .key = {}, .outcome = {}};
    if (!nodes.empty())
      node.variant.source.replace(node.variant.source.find("= 0;"), 4,
                                  "= " + std::to_string(nodes.size()) + ";");
    node.key = variant_key(node.variant);
    node.outcome.status = time_ns > 0 ? Status::ok : Status::compile_error;
    node.outcome.compile_seconds = 0.5;
    if (time_ns > 0)
      node.outcome.timings = {
          {.workload = "default", .samples_ns = {time_ns}, .launch = {}, .cache = "recorded"}};
    rows.push_back({.status = node.outcome.status, .time_ns = time_ns, .compile_seconds = 0.5});
    nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(nodes.size() - 1);
  };
  const auto join = [&](std::uint32_t from, std::uint32_t to, const char* move, double weight) {
    nodes[from].actions.push_back(
        {.instance = {.move = move, .site = "launch", .parameters = {{"to", to}}},
         .source = "rules",
         .weight = weight,
         .target = to});
  };
  add(1e6);
  for (std::uint32_t i = 0; i < width; ++i) {
    const std::uint32_t first = add(i + 1 == width ? 0 : 1e6 + i);
    join(0, first, i == 0 ? "good" : "other", i == 0 ? 9 : 1);
    if (i + 1 == width) continue;
    join(first, add(9e5 - 1e5 * i), "other", 1);
    join(first, 0, "back", 1);
  }
  return {"small",
          {.runner = "cuda", .name = "a device", .arch = "sm_90a"},
          spec,
          std::move(nodes),
          std::move(rows),
          "small_graph"};
}

/// P(s,a) = weight.
class Weights final : public Prior {
 public:
  [[nodiscard]] std::string_view name() const override { return "weights"; }
  void evaluate(const ProposalContext& context,
                const std::vector<Proposal>& proposals,
                std::vector<double>& out) override {
    CHECK(context.outcome->status == Status::ok);
    for (std::size_t i = 0; i < proposals.size(); ++i) out[i] = proposals[i].weight;
  }
};

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_graph(text, "x", "x.graph"));
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE(
    "a graph survives being written and read, gzipped, and is told from a space of tunables by its "
    "content") {
  const TemporaryFolder folder;
  const RecordedGraph graph = small_graph();
  save_graph(graph, folder.path() / "g.graph.gz");
  const auto again =
      std::dynamic_pointer_cast<const RecordedGraph>(load_recording(folder.path() / "g.graph.gz"));
  REQUIRE(again != nullptr);
  CHECK(graph_text(*again) == graph_text(graph));
  CHECK(again->facts().arch == "sm_90a");
  CHECK(again->best_ns() == graph.best_ns());
  CHECK(again->find(graph.node(3).key) == 3);
  CHECK(again->find({1, 2}) == Recording::kNone);
}

TEST_CASE("the best of a graph is the best that moves lead to, through variants that run") {
  const RecordedGraph graph = small_graph();
  // From the baseline: three variants that run, one that fails, and one behind each of the three.
  CHECK(graph.reachable() == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7});
  std::vector<RecordedGraph::Node> nodes;
  std::vector<Recording::Row> rows;
  for (std::uint32_t i = 0; i < graph.rows().size(); ++i) {
    nodes.push_back(graph.node(i));
    rows.push_back(graph.rows()[i]);
  }
  nodes[0].actions.erase(nodes[0].actions.begin());  // "good", behind which is another
  const RecordedGraph without(graph.name(), graph.facts(), graph.spec(), nodes, rows, "without");
  CHECK(without.reachable() == std::vector<std::uint32_t>{0, 3, 4, 5, 6, 7});
}

TEST_CASE("a graph stands in for the kernel that it was recorded of, and for no other") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "g.graph.gz").string();
  save_graph(small_graph(), file);
  const Options options;
  RunnerConfig config;
  config.argument = file;
  config.options = &options;
  const auto runner = registered_runners().create("--runner", "replay", config);
  KernelSpec spec = small_spec();
  spec.name = "another_name";
  REQUIRE(runner->substitute(spec));
  CHECK(runner->substitute(spec)->name == "another_name");
  for (const char* source : {"extern \"C\" __global__ void k(float* y) { y[0] = 1; }\n",
                             "extern \"C\" __global__ void j(float* y) { y[0] = 0; }\n"}) {
    KernelSpec other = small_spec();
    other.source = source;
    std::string problem;
    try {
      static_cast<void>(runner->substitute(other));
    } catch (const Error& error) {
      problem = error.what();
    }
    CHECK(problem.find("a graph of kernel k of spec small") != std::string::npos);
    CHECK(problem.find(file) != std::string::npos);
  }
}

TEST_CASE("damage is refused with file and line") {
  const std::string text = graph_text(small_graph());
  CHECK(refusal("").find("x.graph") != std::string::npos);
  CHECK(refusal(text.substr(0, text.size() / 2)).find("x.graph:") != std::string::npos);
  CHECK(refusal(text.substr(0, text.find('\n') + 1)) != "");
  std::string other = text;
  other.replace(other.find("= 2;"), 4, "= 7;");
  CHECK(refusal(other).find("x.graph:4:/key") != std::string::npos);
  const std::string row =
      text.substr(text.find('\n') + 1, text.find('\n', text.find('\n') + 1) - text.find('\n'));
  CHECK(refusal(text + row).find("each variant once") != std::string::npos);
  other = text;
  other.replace(other.find("\"time_ns\":1000000.0"), 19, "\"time_ns\":-1.0     ");
  CHECK(refusal(other).find("a time above 0") != std::string::npos);
}

TEST_CASE("a search walks the moves of a graph to its best variant, each variant evaluated once") {
  const RecordedGraph graph = small_graph(6);
  for (const char* strategy : {"mcgs", "random", "best_first", "beam", "breadth_first"}) {
    CAPTURE(strategy);
    Options options;
    options.search.strategy = strategy;
    const LabRun run = run_lab(graph, options, {.seed = 1, .budget = 100});
    CHECK(run.evaluations == graph.rows().size());
    CHECK(run.failed == 1);
    CHECK(run.improvements.back().time_ns == graph.best_ns());
    CHECK(run.virtual_seconds == doctest::Approx(0.5 * static_cast<double>(graph.rows().size())));
  }
}

TEST_CASE("the prior decides what is tried first, and a move left out is not made") {
  const RecordedGraph graph = small_graph(40);
  Options options;
  options.search.strategy = "mcgs";
  Weights prior;
  const auto first = [&](const Recording::Steps& steps, std::uint64_t seed) {
    const auto walk = graph.walk(0, steps);
    Search search(*walk, options, seed, walk->key(NodeId{0}));
    return walk->row(search.next()->node);
  };
  int uniform = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    uniform += first({}, seed) == 1 ? 1 : 0;
    CHECK(first({.prior = &prior}, seed) == 1);
    CHECK(first({.prior = &prior, .without = {"good"}}, seed) != 1);
  }
  CHECK(uniform < 5);
  const LabRun run = run_lab(graph, options, {.seed = 1, .budget = 100}, {.without = {"good"}});
  CHECK(run.evaluations == graph.rows().size() - 2);
}

TEST_CASE(
    "a campaign over a graph tunes structural moves: siblings by recorded values, before the "
    "search "
    "comes to them") {
  const RecordedGraph graph = small_graph(30);
  const auto evaluated = [&](const Recording::Steps& steps, int builds) {
    Options options;
    options.search.strategy = "mcgs";
    options.tune.builds = builds;
    options.tune.share = 1;
    const LabRun run = run_lab(graph, options, {.seed = 1, .budget = 20}, steps);
    CHECK(run.evaluations == 20);
    std::vector<double> times;
    for (const LabRun::Improvement& one : run.improvements) times.push_back(one.time_ns);
    return times;
  };
  const Recording::Steps tuned{.structural = {"good", "other"}};
  CHECK(evaluated(tuned, 0) == evaluated({}, 8));
  CHECK(evaluated(tuned, 8) != evaluated({}, 8));
  CHECK(evaluated(tuned, 8) == evaluated(tuned, 8));

  const auto walk = graph.walk(0, tuned);
  Search search(*walk, Options{}, 1, walk->key(NodeId{0}));
  const auto first = search.next();
  REQUIRE(first);
  const MoveInstance other{.move = "other", .site = "launch", .parameters = {}};
  const std::vector<Tunable> domain = walk->domain(NodeId{0}, other);
  REQUIRE(domain.size() == 1);
  CHECK(domain.front().name == "to");
  CHECK(domain.front().values.size() == 29);
  Proposal proposal;
  proposal.instance = other;
  CHECK_FALSE(walk->graft(search, NodeId{0}, proposal, [] { return 1.0F; }));  // unrecorded
  proposal.instance.parameters["to"] = domain.front().values.back();
  proposal.source = "tuning";
  const auto grafted = walk->graft(search, NodeId{0}, proposal, [] { return 1.0F; });
  REQUIRE(grafted);
  CHECK(walk->row(grafted->node) == domain.front().values.back());
  CHECK(walk->source(grafted->node) == "tuning");
  CHECK(walk->instance(grafted->node) == proposal.instance);
  CHECK_FALSE(walk->graft(search, NodeId{0}, proposal, [] { return 1.0F; }));  // known
}

TEST_CASE("moves that come late are no actions: they arrive so long after a node was opened") {
  const RecordedGraph graph = small_graph(6);
  const auto lab = [&](double seconds, bool deterministic, std::uint64_t seed = 1) {
    Options options;
    options.search.strategy = "mcgs";
    options.search.deterministic = deterministic;
    options.of<ReplayOptions>().late_moves = "other";
    options.of<ReplayOptions>().late_seconds = seconds;
    return run_lab(graph, options, {.seed = seed, .budget = 100});
  };
  for (const bool deterministic : {false, true}) {
    CAPTURE(deterministic);
    const LabRun at_once = lab(0, deterministic), late = lab(1000, deterministic);
    CHECK(at_once.evaluations == graph.rows().size());
    CHECK(at_once.virtual_seconds ==
          doctest::Approx(0.5 * static_cast<double>(graph.rows().size())));
    CHECK(late.evaluations == graph.rows().size());
    CHECK(late.reported_ns == graph.best_ns());
    CHECK(late.virtual_seconds > 2000);  // those of the root, and those behind them
    // "good" is an action: it is tried while the others are awaited.
    CHECK(late.improvements.front().at_seconds < 1);
    CHECK(lab(1000, deterministic).virtual_seconds == late.virtual_seconds);
  }
  const auto walk = graph.walk(0, {.late = {"other"}});
  Search search(*walk, Options{}, 1, walk->key(NodeId{0}));
  REQUIRE(search.next());
  CHECK(walk->row(NodeId{1}) == 1);
  CHECK(walk->take_opened() == std::vector<NodeId>{NodeId{0}});
  CHECK_FALSE(walk->has_opened());
  CHECK(walk->late_proposals(NodeId{0}).size() == 5);
}

TEST_CASE("breadth first means breadth first, also with several devices") {
  const RecordedGraph graph = small_graph(5);
  Options options;
  options.search.strategy = "breadth_first";
  const auto walk = graph.walk(0, {});
  Search search(*walk, options, 1, walk->key(NodeId{0}));
  std::vector<std::uint16_t> depths;
  std::vector<Dispatch> flights;
  for (;;) {
    const auto d = search.next();
    if (d) {
      flights.push_back(*d);
      depths.push_back(search.graph()[d->node].depth);
      if (flights.size() < 3) continue;
    }
    if (flights.empty()) break;
    const Recording::Row& row = graph.rows()[walk->row(flights.front().node)];
    search.complete(flights.front().sequence,
                    {.ok = row.status == Status::ok,
                     .reward = row.status == Status::ok ? std::log(1e6 / row.time_ns) : 0});
    flights.erase(flights.begin());
  }
  CHECK(depths.size() == graph.rows().size() - 1);
  CHECK(std::is_sorted(depths.begin(), depths.end()));
  CHECK(search.idle() == Idle::exhausted);
}

TEST_SUITE_END();
