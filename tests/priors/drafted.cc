#include <doctest/doctest.h>

#include <cmath>

#include "engine/plugin/options.h"
#include "priors/evidence/embedded.h"
#include "priors/options.h"
#include "priors/tactics/draft_features.h"
#include "priors/tactics/gain_model.h"
#include "register_priors.h"

using namespace warpath;

TEST_SUITE_BEGIN("prior_drafted");

namespace {

Diagnosis facts(double registers, double blocks) {
  return {.time_bound_ns = {},
          .facts = {{"registers_per_thread", {registers, FactSource::static_analysis}},
                    {"blocks", {blocks, FactSource::static_analysis}},
                    {"blocks_per_sm", {2, FactSource::static_analysis}},
                    {"threads_per_block", {128, FactSource::static_analysis}}}};
}

double feature(const Features& features, std::string_view name) {
  for (const auto& [known, value] : features) {
    if (known == name) return value;
  }
  return 0;
}

/// Fewer registers are a gain, and of the number of blocks it knows nothing: `variance` is that of
/// its weight.
std::string model(double variance = 0) {
  const auto v = static_cast<float>(variance);
  return GainModel({.names = {"blocks", "registers_per_thread"},
                    .weights = {0, -1},
                    .inverse = {v, 0, 0},
                    .kernels = {"other"}})
      .text();
}

/// A node with proposals of which drafting tells `told`.
struct Node {
  explicit Node(std::vector<std::optional<Diagnosis>> what) : told(std::move(what)) {
    device.multiprocessors = 4;
    outcome.status = Status::ok;
    outcome.diagnosis = facts(64, 100);
    for (std::size_t i = 0; i < told.size(); ++i)
      proposals.push_back({.instance = {"move", "site", {{"n", static_cast<std::int64_t>(i)}}},
                           .variant = std::nullopt,
                           .why = ""});
  }
  static std::unique_ptr<Prior> prior(const Options& options, const std::string& text) {
    return registered_priors().create(
        "test", "drafted", {.options = &options, .read = [&](std::string_view name) {
                              return name == kDraftModelFile ? std::optional(text) : std::nullopt;
                            }});
  }
  ProposalContext context(bool drafts = true) {
    ProposalContext context{.at = {spec, variant, device},
                            .node_key = {},
                            .outcome = &outcome,
                            .seed = 1,
                            .baseline = &outcome};
    if (drafts)
      context.drafts = [&](std::span<const Proposal* const> asked) {
        std::vector<std::shared_ptr<const Diagnosis>> out;
        for (const Proposal* const p : asked) {
          const auto& one = told[static_cast<std::size_t>(p->instance.parameters.at("n"))];
          out.push_back(one ? std::make_shared<const Diagnosis>(*one) : nullptr);
        }
        drafted = asked.size();
        return out;
      };
    return context;
  }
  std::vector<double> weighed(const Options& options, const std::string& text, bool drafts = true) {
    std::vector<double> out;
    prior(options, text)->evaluate(context(drafts), proposals, out);
    return out;
  }
  std::vector<std::optional<Diagnosis>> told;
  std::size_t drafted = 0;
  KernelSpec spec;
  Variant variant;
  DeviceFacts device;
  Outcome outcome;
  std::vector<Proposal> proposals;
};

}  // namespace

TEST_CASE("a feature is the change of the logarithm of what is known without a launch") {
  DeviceFacts device;
  device.multiprocessors = 4;
  Diagnosis before = facts(63, 100), after = facts(31, 4);
  before.facts["stall_barrier"] = {0.5, FactSource::measured};
  after.facts["ptx_shuffle"] = {7, FactSource::static_analysis};
  after.facts["occupancy_limit_registers"] = {1, FactSource::static_analysis};
  const Features features = draft_features(device, before, after);
  CHECK(feature(features, "registers_per_thread") == doctest::Approx(-1.0 / 3));
  CHECK(feature(features, "ptx_shuffle") == doctest::Approx(1));  // absent before: none
  CHECK(feature(features, "threads_held") == doctest::Approx(-1.0 / 3).epsilon(0.01));  // 8, 4
  CHECK(feature(features, "stall_barrier") == 0);
  CHECK(feature(features, "occupancy_limit_registers") == 0);
  CHECK(draft_features(device, before, before) == Features{{"1", 1}});
}

TEST_CASE("what compiles to a variant of greater expected gain has more weight") {
  Options options;
  options.of<PriorOptions>().floor = 0;
  Node node({facts(127, 100), facts(63, 100), facts(31, 100), std::nullopt});
  const std::vector<double> p = node.weighed(options, model());
  CHECK(p[2] / p[1] == doctest::Approx(std::exp(options.of<PriorOptions>().draft_weight / 3)));
  CHECK(p[1] > p[0]);
  CHECK(p[3] == doctest::Approx(p[0]));  // what does not compile: as the least
  CHECK(p[0] + p[1] + p[2] + p[3] == doctest::Approx(1));
}

TEST_CASE("what the model knows nothing of may gain much") {
  Options options;
  Node node({facts(63, 100), facts(63, 1000)});
  const std::vector<double> certain = node.weighed(options, model(0)),
                            unknown = node.weighed(options, model(1));
  CHECK(certain[1] == doctest::Approx(certain[0]));
  CHECK(unknown[1] > 1.5 * unknown[0]);
}

TEST_CASE("as many of the first proposals are drafted as may be, the others count as the mean") {
  Options options;
  options.of<PriorOptions>().drafts = 2;
  options.of<PriorOptions>().floor = 0;
  Node node({facts(31, 100), facts(127, 100), facts(1, 100)});
  for (std::size_t i = 0; i < 3; ++i) node.proposals[i].weight = i < 2 ? 2 : 1;
  const std::vector<double> p = node.weighed(options, model());
  CHECK(node.drafted == 2);
  CHECK(p[0] > 2 * p[2]);
  CHECK(2 * p[2] > p[1]);
}

TEST_CASE(
    "beside the root, what is better than the best before it by a margin is drafted, also after a "
    "resume") {
  const Options options;
  Node node({facts(31, 100), facts(127, 100)});
  node.outcome.timings = {{.workload = "w", .samples_ns = {100}, .launch = {}, .cache = ""}};
  const MoveInstance &small = node.proposals[0].instance, &large = node.proposals[1].instance;
  const auto drafted_at = [&](Prior& prior, std::vector<const MoveInstance*> path) {
    ProposalContext context = node.context();
    context.path = std::move(path);
    node.drafted = 0;
    std::vector<double> out;
    prior.evaluate(context, node.proposals, out);
    return node.drafted;
  };
  const auto prior = Node::prior(options, model());
  const auto observe = [&](const MoveInstance& move, double gain) {
    prior->observe({.context = node.context(),
                    .instance = move,
                    .source = "rules",
                    .shares = {},
                    .ok = true,
                    .log_gain = gain});
  };
  CHECK(drafted_at(*prior, {}) == 2);
  observe(small, 0.8 * options.of<PriorOptions>().draft_gain);
  CHECK(drafted_at(*prior, {&small}) == 0);
  CHECK(drafted_at(*prior, {}) == 2);
  observe(large, 2 * options.of<PriorOptions>().draft_gain);
  CHECK(drafted_at(*prior, {&large}) == 2);
  CHECK(drafted_at(*prior, {&small}) == 0);
  const auto resumed = Node::prior(options, model());
  resumed->relearn(prior->learned(), "state");
  CHECK(drafted_at(*resumed, {&large}) == 2);
  CHECK(drafted_at(*resumed, {}) == 0);
}

TEST_CASE("where nothing can be drafted it is tactics") {
  const Options options;
  Node node({facts(31, 100), facts(127, 100)});
  node.proposals[0].weight = 3;
  std::vector<double> tactics;
  registered_priors()
      .create("test", "tactics", {.options = &options})
      ->evaluate({.at = {node.spec, node.variant, node.device},
                  .node_key = {},
                  .outcome = &node.outcome,
                  .seed = 1},
                 node.proposals, tactics);
  CHECK(node.weighed(options, model(), false) == tactics);
  node.told = {std::nullopt, std::nullopt};
  CHECK(node.weighed(options, model()) == tactics);
  node.outcome.diagnosis.reset();
  CHECK(node.weighed(options, model()) == tactics);
}

TEST_CASE("the program's own model is of several kernels") {
  const GainModel own = GainModel::parse(std::string(embedded_draft_model().text), "own");
  CHECK(own.parts().kernels.size() >= 6);
  CHECK(own.parts().weights.size() > 10);
}

TEST_SUITE_END();
