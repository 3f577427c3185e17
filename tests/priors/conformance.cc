#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "register_priors.h"

using namespace warpath;

TEST_SUITE_BEGIN("prior_conformance");

namespace {

/// Where a search stands at its root.
struct Root {
  KernelSpec spec;
  Variant variant;
  DeviceFacts device;
  ProposalContext context{{spec, variant, device}, Hash128{}, nullptr, 1};
};

std::vector<double> evaluated(Prior& prior, const std::vector<Proposal>& proposals) {
  const Root root;
  std::vector<double> out{7, 7, 7};  // what was there is no matter
  prior.evaluate(root.context, proposals, out);
  return out;
}

/// Tells the prior of `count` outcomes: every third proposal fails, others gain by their number.
void teach(Prior& prior, const std::vector<Proposal>& proposals, int count, std::uint64_t seed) {
  const Root root;
  Rng rng(seed, "outcomes");
  for (int i = 0; i < count; ++i) {
    static_cast<void>(evaluated(prior, proposals));
    const auto chosen = static_cast<std::size_t>(rng.below(proposals.size()));
    const Proposal& proposal = proposals[chosen];
    const SourceShares shares = prior.shares(root.context, proposals, chosen);
    prior.observe({.context = root.context,
                   .instance = proposal.instance,
                   .source = proposal.source,
                   .shares = shares,
                   .ok = chosen % 3 != 0,
                   .log_gain = 0.1 * static_cast<double>(chosen) - 0.2});
  }
}

std::vector<Proposal> proposals_with(const std::vector<double>& weights) {
  std::vector<Proposal> out(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    out[i].instance = {"m", "s", {{"value", static_cast<std::int64_t>(i)}}};
    out[i].weight = weights[i];
  }
  return out;
}

PriorRegistry registry() {
  const PriorRegistry& out = registered_priors();
  return out;
}

}  // namespace

TEST_CASE(
    "every prior is finite, not negative, sums to one and follows a permutation of the proposals") {
  const double huge = std::numeric_limits<double>::max(),
               tiny = std::numeric_limits<double>::denorm_min();
  const std::vector<std::vector<double>> cases{{},
                                               {1},
                                               {1, 1},
                                               {1, 0.25, 0.1},
                                               {0, 0, 0},
                                               {-1, 2, 0},
                                               {huge, huge, 1},
                                               {tiny, tiny},
                                               {std::nan(""), 1, 3},
                                               {std::numeric_limits<double>::infinity(), 1},
                                               std::vector<double>(5000, 0.3)};
  const PriorRegistry priors = registry();
  for (const auto& [name, entry] : priors.entries()) {
    CAPTURE(name);
    const std::unique_ptr<Prior> prior = entry.make({});
    CHECK(prior->name() == name);
    for (const auto& weights : cases) {
      const std::vector<Proposal> proposals = proposals_with(weights);
      const std::vector<double> p = evaluated(*prior, proposals);
      REQUIRE(p.size() == proposals.size());
      for (const double x : p) CHECK((std::isfinite(x) && x >= 0));
      if (!p.empty())
        CHECK(std::accumulate(p.begin(), p.end(), 0.0) == doctest::Approx(1).epsilon(1e-12));
      const auto order = Rng(3, "test").permutation(static_cast<std::uint32_t>(p.size()));
      std::vector<Proposal> permuted;
      for (const auto i : order) permuted.push_back(proposals[i]);
      const std::vector<double> q = evaluated(*prior, permuted);
      for (std::size_t i = 0; i < order.size(); ++i) CHECK(q[i] == p[order[i]]);
    }
  }
}

TEST_CASE("a prior that learns is brought back by what it says it learned") {
  const PriorRegistry priors = registry();
  const auto proposals = proposals_with({1, 0.5, 2, 0.25, 1, 3});
  std::size_t learning = 0;
  for (const auto& [name, entry] : priors.entries()) {
    CAPTURE(name);
    const std::unique_ptr<Prior> prior = entry.make({});
    if (prior->pure()) {
      CHECK(prior->learned().empty());
      continue;
    }
    ++learning;
    teach(*prior, proposals, 40, 1);
    CHECK(evaluated(*prior, proposals) != evaluated(*entry.make({}), proposals));
    const std::unique_ptr<Prior> again = entry.make({});
    again->relearn(prior->learned(), "snapshot");
    CHECK(again->learned() == prior->learned());
    CHECK(evaluated(*again, proposals) == evaluated(*prior, proposals));
    teach(*prior, proposals, 40, 2);
    teach(*again, proposals, 40, 2);
    CHECK(again->learned() == prior->learned());
    CHECK(evaluated(*again, proposals) == evaluated(*prior, proposals));
    CHECK_THROWS_WITH_AS(entry.make({})->relearn("{\"none\": [", "snapshot"),
                         doctest::Contains("snapshot"), Error);
  }
  CHECK(learning > 0);
}

TEST_CASE("uniform ignores weights, proposer is proportional to them") {
  const auto proposals = proposals_with({1, 3, -5});
  const PriorRegistry priors = registry();
  CHECK(evaluated(*priors.create("test", "uniform", {}), proposals) ==
        std::vector<double>(3, 1.0 / 3));
  CHECK(evaluated(*priors.create("test", "proposer", {}), proposals) ==
        std::vector<double>{0.25, 0.75, 0});
}

TEST_SUITE_END();
