#include <doctest/doctest.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/plugin/options.h"
#include "priors/options.h"
#include "priors/tactics/tactic_graph.h"
#include "register_priors.h"

using namespace warpath;

TEST_SUITE_BEGIN("prior_tactics");

namespace {

const TacticGraph::Edge kGood{"gpu/dense/latency", "start", "good"};
const TacticGraph::Edge kBad{"gpu/dense/latency", "start", "bad"};

TacticGraph graph(int trials) {
  TacticGraph out;
  for (int i = 0; i < trials; ++i) {
    out.add(kGood, true, i % 2 == 0 ? 0.5 : -0.1);
    out.add(kBad, i % 4 != 0, -0.2);
  }
  return out;
}

std::unique_ptr<Prior> tactics(const Options& options = {},
                               std::optional<std::string> text = std::nullopt) {
  const PriorRegistry& registry = registered_priors();
  return registry.create("test", "tactics",
                         {.options = &options, .read = [text](std::string_view name) {
                            return name == kTacticGraphFile ? text : std::nullopt;
                          }});
}

/// A node on a GPU with a bottleneck, and its proposals.
struct Node {
  Node() {
    device.is_gpu = true;
    outcome.status = Status::ok;
    outcome.diagnosis = Diagnosis{.time_bound_ns = {},
                                  .facts = {{"dram_throughput", {0.9, FactSource::measured}},
                                            {"sm_throughput", {0.8, FactSource::measured}},
                                            {"stall_barrier", {0.5, FactSource::measured}}}};
    for (const char* move : {"good", "bad", "new"}) {
      for (int i = 0; i < 3; ++i)
        proposals.push_back(
            {.instance = {move, "launch", {{"value", i}}}, .variant = std::nullopt, .why = ""});
    }
  }
  [[nodiscard]] ProposalContext context() const {
    return {.at = {spec, variant, device}, .node_key = {}, .outcome = &outcome, .seed = 1};
  }
  [[nodiscard]] std::vector<double> of(Prior& prior) const {
    std::vector<double> out;
    prior.evaluate(context(), proposals, out);
    return out;
  }
  void tell(Prior& prior, std::size_t proposal, bool ok, double gain) const {
    const ProposalContext at = context();
    const SourceShares none;
    prior.observe({.context = at,
                   .instance = proposals[proposal].instance,
                   .source = proposals[proposal].source,
                   .shares = none,
                   .ok = ok,
                   .log_gain = gain});
  }
  KernelSpec spec;
  Variant variant;
  DeviceFacts device;
  Outcome outcome;
  std::vector<Proposal> proposals;
};

}  // namespace

TEST_CASE("beliefs follow the counts: Beta of improved or not, Normal of the gain") {
  const TacticGraph many = graph(4000), none;
  const TacticBelief good = none.believe(kGood, many), bad = none.believe(kBad, many);
  CHECK(good.improves.mean() == doctest::Approx(0.5).epsilon(0.01));
  CHECK(good.improves.a + good.improves.b == doctest::Approx(4004));
  CHECK(good.gain.mean == doctest::Approx(0.2).epsilon(0.01));
  CHECK(good.gain.spread == doctest::Approx(0.09).epsilon(0.02));
  CHECK(std::sqrt(good.gain.variance) == doctest::Approx(0.3 / std::sqrt(4000.0)).epsilon(0.02));
  CHECK(good.expected == doctest::Approx(0.25).epsilon(0.02));
  CHECK(bad.improves.mean() < 0.01);
  CHECK(bad.gain.mean == doctest::Approx(-0.2).epsilon(0.01));
}

TEST_CASE(
    "what was never tried is believed as the level above, and other runs weigh little against "
    "one's own") {
  const TacticGraph other = graph(4000), none;
  const TacticGraph::Edge elsewhere{"gpu/dense/bandwidth", "good", "good"},
      unknown{"gpu/tensor/compute", "start", "never"};
  CHECK(other.believe(elsewhere, none).expected >
        3 * other.believe({"gpu/dense/bandwidth", "good", "bad"}, none).expected);
  CHECK(other.believe(elsewhere, none).improves.mean() <
        other.believe(kGood, none).improves.mean());
  // another kind of device
  CHECK(other.believe({"host/dense/latency", "start", "good"}, none).expected ==
        doctest::Approx(none.believe(unknown, none).expected));
  TacticGraph own;
  for (int i = 0; i < 60; ++i) own.add(kGood, true, -0.3);
  CHECK(other.believe(kGood, own).improves.mean() < 0.15);
  CHECK(other.believe(kGood, own).gain.mean < 0);
}

TEST_CASE("a graph survives its text, and damage is named") {
  const TacticGraph before = graph(7);
  const TacticGraph after = TacticGraph::parse(before.text(), "t.json");
  CHECK(after.edges() == before.edges());
  CHECK(after.text() == before.text());
  CHECK(after.believe(kGood, {}).expected == before.believe(kGood, {}).expected);
  std::string text = before.text();
  text.replace(text.find("\"tried\":7.0"), 11, "\"tried\":0.0");
  CHECK_THROWS_WITH_AS(static_cast<void>(TacticGraph::parse(text, "t.json")),
                       doctest::Contains("t.json:/edges/0/tried"), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(TacticGraph::parse("{}", "t.json")),
                       doctest::Contains("t.json"), Error);
}

TEST_CASE(
    "the prior learns from its own run, from other runs, and lets a failed move recover elsewhere "
    "and in time") {
  const Node node;
  const auto fresh = tactics();
  CHECK_FALSE(fresh->pure());
  const std::vector<double> at_first = node.of(*fresh);
  for (const double p : at_first) CHECK(p == doctest::Approx(1.0 / 9));
  node.tell(*fresh, 3, false, 0);
  // the same move, but other parameters than those that failed
  CHECK(node.of(*fresh)[4] > 1.5 * node.of(*fresh)[3]);
  for (int i = 0; i < 10; ++i) {
    node.tell(*fresh, 0, true, 0.4);
    node.tell(*fresh, 3, false, 0);
  }
  const std::vector<double> later = node.of(*fresh);
  CHECK(later[0] > 1.5 * later[6]);  // good over new
  CHECK(later[6] > 3 * later[4]);    // new over bad
  CHECK(later[3] >= 0.1 / 9);        // the floor

  Options options;
  options.of<PriorOptions>().half_life = 5;
  const auto forgetful = tactics(options);
  node.tell(*forgetful, 3, false, 0);
  const double soon = node.of(*forgetful)[3] / node.of(*forgetful)[4];
  for (int i = 0; i < 50; ++i) node.tell(*forgetful, 6, true, 0);
  const double late = node.of(*forgetful)[3] / node.of(*forgetful)[4];
  CHECK(soon < 0.6);
  CHECK(late > 0.99);

  Node other = node;
  other.outcome.diagnosis.reset();  // another bottleneck: the failure says nothing there
  const auto one = tactics();
  node.tell(*one, 3, false, 0);
  CHECK(node.of(*one)[3] < 0.6 * node.of(*one)[4]);
  CHECK(other.of(*one)[3] == doctest::Approx(other.of(*one)[4]));

  TacticGraph before;
  const std::string context = tactic_context(node.context());
  for (int i = 0; i < 100; ++i) {
    before.add({context, "start", "good"}, true, 0.4);
    before.add({context, "start", "bad"}, true, -0.4);
    before.add({context, "start", "another"}, true, 0);
  }
  const auto taught = tactics({}, before.text());
  CHECK(node.of(*taught)[0] > 2 * node.of(*taught)[6]);
  CHECK(node.of(*taught)[6] > 2 * node.of(*taught)[3]);
  CHECK(taught->files().at(std::string(kTacticGraphFile)) == before.text());
}

TEST_CASE("a failure that has faded is no longer remembered, and the weights are as if it were") {
  const Node node;
  Options options;
  options.of<PriorOptions>().half_life = 1;
  const auto prior = tactics(options);
  const auto remembers = [&] {
    return prior->learned().find(node.proposals[3].instance.text()) != std::string::npos;
  };
  node.tell(*prior, 3, false, 0);
  CHECK(remembers());
  for (int i = 0; i < 64; ++i) node.tell(*prior, 0, true, 0.1);
  CHECK(!remembers());
  const std::vector<double> p = node.of(*prior);
  CHECK(p[3] == p[4]);  // the same move with other parameters
  node.tell(*prior, 3, false, 0);
  CHECK(remembers());
}

TEST_CASE("moves of too little expected gain keep the floor alone") {
  const Node node;
  Options options;
  options.of<PriorOptions>().min_pred_gain = 0.05;
  const auto prior = tactics(options);
  for (int i = 0; i < 20; ++i) {
    node.tell(*prior, 0, true, 0.4);
    node.tell(*prior, 3, true, -0.4);
  }
  const std::vector<double> p = node.of(*prior);
  CHECK(p[0] > 0.2);
  for (const std::size_t i : {3U, 4U, 5U}) CHECK(p[i] == doctest::Approx(0.1 / 9));
}

TEST_SUITE_END();
