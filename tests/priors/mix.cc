#include <doctest/doctest.h>

#include <numeric>

#include "engine/base/error.h"
#include "engine/plugin/options.h"
#include "priors/evidence/source_weights.h"
#include "priors/options.h"
#include "register_priors.h"

using namespace warpath;

TEST_SUITE_BEGIN("prior_mix");

namespace {

std::unique_ptr<Prior> mix(const Options& options) {
  const PriorRegistry& registry = registered_priors();
  return registry.create("test", "mix", {.options = &options});
}

struct Node {
  [[nodiscard]] ProposalContext context() const {
    return {.at = {spec, variant, device}, .node_key = {1, 2}};
  }
  [[nodiscard]] std::vector<double> of(Prior& prior) const {
    std::vector<double> out;
    prior.evaluate(context(), proposals, out);
    return out;
  }
  KernelSpec spec;
  Variant variant;
  DeviceFacts device;
  std::vector<Proposal> proposals;
};

Node node_of(const std::vector<double>& weights) {
  Node out;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    out.proposals.push_back({.instance = {"m" + std::to_string(i), "", {}},
                             .weight = weights[i],
                             .variant = std::nullopt,
                             .why = ""});
  }
  return out;
}

}  // namespace

TEST_CASE(
    "a source that tells what improves gains weight, one that misleads loses it, and neither is "
    "lost for good") {
  SourceWeights trust({"right", "uniform", "wrong"}, 1, 0.01);
  for (int i = 0; i < 60; ++i) {
    const bool improved = i % 3 == 0;
    trust.observe(
        {{"right", improved ? 3.0 : 0.3}, {"uniform", 1.0}, {"wrong", improved ? 0.3 : 3.0}},
        improved);
    CHECK(std::accumulate(trust.weights().begin(), trust.weights().end(), 0.0) ==
          doctest::Approx(1));
  }
  CHECK(trust.weights()[0] > 0.9);
  CHECK(trust.weights()[2] < trust.weights()[1]);
  CHECK(trust.weights()[2] >= 0.003);
  for (int i = 0; i < 60; ++i) {  // now it is the other way round
    const bool improved = i % 3 == 0;
    trust.observe(
        {{"right", improved ? 0.3 : 3.0}, {"uniform", 1.0}, {"wrong", improved ? 3.0 : 0.3}},
        improved);
  }
  CHECK(trust.weights()[2] > 0.9);
}

TEST_CASE("a claim is odds over the usual ones, which follow the run") {
  SourceWeights trust({"a"}, 1, 0);
  CHECK(trust.chance(1) == doctest::Approx(0.2));
  CHECK(trust.chance(4) == doctest::Approx(0.5));
  for (int i = 0; i < 95; ++i) trust.observe({}, true);
  CHECK(trust.chance(1) == doctest::Approx(0.96));
  CHECK(trust.chance(1e9) < 1);
  CHECK(trust.chance(0) > 0);
}

TEST_CASE("with rate 0 the weights stay equal") {
  SourceWeights trust({"a", "b"}, 0, 0.01);
  for (int i = 0; i < 10; ++i) trust.observe({{"a", 5.0}}, true);
  CHECK(trust.weights()[0] == doctest::Approx(0.5));
}

TEST_CASE(
    "a mixture is the mean of its sources with a floor, says what each gives, and learns from what "
    "became of it") {
  Options options;
  options.of<PriorOptions>().sources = "uniform,proposer";
  options.of<PriorOptions>().floor = 0.2;
  const auto prior = mix(options);
  const Node node = node_of({1, 3});
  const std::vector<double> p = node.of(*prior);
  CHECK(p[0] == doctest::Approx(0.8 * (0.5 + 0.25) / 2 + 0.1));
  const SourceShares shares = prior->shares(node.context(), node.proposals, 0);
  CHECK(shares == SourceShares{{"proposer", 0.5}, {"uniform", 1.0}});
  const ProposalContext at = node.context();
  for (int i = 0; i < 60; ++i) {  // the weights mislead
    const std::size_t chosen = static_cast<std::size_t>(i % 2);
    const SourceShares said = prior->shares(at, node.proposals, chosen);
    prior->observe({.context = at,
                    .instance = node.proposals[chosen].instance,
                    .source = node.proposals[chosen].source,
                    .shares = said,
                    .ok = true,
                    .log_gain = chosen == 0 ? 0.1 : -0.1});
  }
  CHECK(node.of(*prior)[0] == doctest::Approx(0.5).epsilon(0.05));
}

TEST_CASE("proposals of others count as a source where there are any") {
  Options options;
  options.of<PriorOptions>().sources = "uniform,foreign";
  options.of<PriorOptions>().floor = 0;
  const auto prior = mix(options);
  Node node = node_of({1, 1, 1, 1});
  CHECK(node.of(*prior)[2] == doctest::Approx(0.25));
  node.proposals[2].source = "llm";
  // another list, not one seen before
  node.proposals.push_back({.instance = {"more", "", {}}, .variant = std::nullopt, .why = ""});
  CHECK(node.of(*prior)[2] == doctest::Approx((0.2 + 1) / 2));
}

TEST_CASE(
    "sources that do not exist or are a mixture are refused; a model that is not there is left "
    "out") {
  Options options;
  for (const char* sources : {"", "mix", "uniform,nonsense"}) {
    CAPTURE(sources);
    options.of<PriorOptions>().sources = sources;
    CHECK_THROWS_WITH_AS(static_cast<void>(mix(options)), doctest::Contains("prior.sources"),
                         Error);
  }
  options.of<PriorOptions>().sources = "uniform,learned";
  const auto prior = mix(options);
  CHECK(prior->shares(node_of({1, 2}).context(), node_of({1, 2}).proposals, 0).size() == 1);
}

TEST_SUITE_END();
