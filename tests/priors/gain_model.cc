#include "priors/tactics/gain_model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/base/statistics.h"
#include "engine/plugin/options.h"
#include "priors/tactics/experience.h"
#include "priors/tactics/gain_training.h"
#include "register_priors.h"

using namespace warpath;

TEST_SUITE_BEGIN("prior_learned");

namespace {

double normal(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.uniform())) * std::cos(6.283185307179586 * rng.uniform());
}

/// Kernels whose gains follow one law: 0.5 a - 0.4 b + noise, and a feature that says nothing.
std::vector<GainExample> lawful(int kernels, int each, double noise, std::uint64_t seed = 1) {
  std::vector<GainExample> out;
  Rng rng(seed, "lawful");
  for (int k = 0; k < kernels; ++k) {
    for (int i = 0; i < each; ++i) {
      const double a = rng.uniform(), b = rng.uniform();
      const double gain = 0.5 * a - 0.4 * b + noise * normal(rng);
      out.push_back({.kernel = "k" + std::to_string(k),
                     .node = static_cast<std::uint64_t>(i / 10),
                     .move = "m" + std::to_string(i % 20),
                     .features = {{"1", 1}, {"a", a}, {"b", b}, {"c", rng.uniform()}},
                     .gain = taught_gain(true, gain),
                     .improved = gain >= kImproved});
    }
  }
  return out;
}

}  // namespace

TEST_CASE("expected improvement is the mean of what is above 0") {
  Rng rng(1, "test");
  for (const double mean : {-0.5, 0.0, 0.3}) {
    double sum = 0;
    for (int i = 0; i < 200000; ++i) sum += std::max(0.0, mean + 0.4 * normal(rng));
    CHECK(expected_improvement(mean, 0.16) == doctest::Approx(sum / 200000).epsilon(0.02));
  }
  CHECK(expected_improvement(0.3, 0) == 0.3);
  CHECK(expected_improvement(-0.3, 0) == 0);
}

TEST_CASE("rank correlation is Spearman's") {
  CHECK(rank_correlation(std::vector<double>{1, 2, 3}, std::vector<double>{10, 100, 1000}) ==
        doctest::Approx(1));
  CHECK(rank_correlation(std::vector<double>{1, 2, 3}, std::vector<double>{3, 2, 1}) ==
        doctest::Approx(-1));
  CHECK(rank_correlation(std::vector<double>{106, 100, 86, 101, 99, 103, 97, 113, 112, 110},
                         std::vector<double>{7, 27, 2, 50, 28, 29, 20, 12, 6, 17}) ==
        doctest::Approx(-29.0 / 165));
  CHECK(rank_correlation(std::vector<double>{1, 1, 2}, std::vector<double>{5, 5, 9}) ==
        doctest::Approx(1));
  CHECK(rank_correlation(std::vector<double>{1, 1, 1}, std::vector<double>{1, 2, 3}) == 0);
}

TEST_CASE("the law of the gains is found, with the noise about it and a calibrated chance") {
  const auto examples = lawful(4, 400, 0.1);
  const GainModel model = fit_gain_model(examples);
  CHECK(model.parts().noise == doctest::Approx(0.01).epsilon(0.1));
  CHECK(model.predict({{"1", 1}, {"a", 1}, {"b", 0}, {"c", 0.5}}).mean ==
        doctest::Approx(0.5).epsilon(0.05));
  CHECK(model.predict({{"1", 1}, {"a", 0}, {"b", 1}, {"c", 0.5}}).mean ==
        doctest::Approx(-0.4).epsilon(0.05));
  CHECK(model.predict({{"1", 1}, {"a", 1}, {"b", 0}, {"unheard", 9}}).variance < 0.011);
  // far from everything seen
  CHECK(model.predict({{"1", 1}, {"a", 100}, {"b", 0}}).variance > 0.05);
  const GainValidation on_new = validate(model, 0.5, lawful(1, 2000, 0.1, 2));
  CHECK(on_new.rank_correlation > 0.8);
  CHECK(on_new.lift > 1.5);
  CHECK(on_new.log_loss < 0.6 * on_new.uniform_log_loss);
  CHECK(on_new.covered == doctest::Approx(0.95).epsilon(0.02));
}

TEST_CASE("a kernel is predicted by the others alone") {
  auto examples = lawful(3, 200, 0.05);
  for (GainExample& e : examples) {
    if (e.kernel == "k2") e.gain = -e.gain;  // against the law that the others follow
    e.improved = e.gain >= kImproved;
  }
  std::vector<std::string> made;
  const auto validations =
      leave_one_kernel_out(examples, [&](const std::string& kernel, const GainModel& model) {
        made.push_back(kernel);
        CHECK(std::ranges::find(model.parts().kernels, kernel) == model.parts().kernels.end());
        CHECK(model.parts().examples == 400);
      });
  CHECK(made == std::vector<std::string>{"k0", "k1", "k2"});
  REQUIRE(validations.size() == 3);
  CHECK(validations[2].rank_correlation < -0.8);  // it would not be so had it been seen
  CHECK(validations[2].log_loss > validations[2].uniform_log_loss);
  CHECK_THROWS_AS(
      static_cast<void>(leave_one_kernel_out(lawful(1, 20, 0.1), [](const auto&, const auto&) {})),
      Error);
  CHECK_THROWS_AS(static_cast<void>(fit_gain_model({})), Error);
}

TEST_CASE("gains that follow no law are not predicted") {
  auto examples = lawful(4, 300, 0.1);
  Rng rng(5, "shuffle");
  for (GainExample& e : examples) {
    e.gain = 0.3 * normal(rng);
    e.improved = e.gain >= kImproved;
  }
  for (const GainValidation& v : leave_one_kernel_out(examples, [](const auto&, const auto&) {})) {
    CAPTURE(v.kernel);
    CHECK(std::abs(v.rank_correlation) < 0.15);
    CHECK(v.log_loss < 1.05 * v.uniform_log_loss);
  }
}

TEST_CASE("features know the node and the proposal, never the child") {
  const KernelSpec spec;
  const Variant variant;
  DeviceFacts device;
  device.is_gpu = true;
  device.multiprocessors = 100;
  Outcome outcome;
  outcome.status = Status::ok;
  outcome.timings = {{.workload = "w",
                      .samples_ns = {1000},
                      .launch = {.grid = {400, 1, 1}, .block = {256, 1, 1}},
                      .cache = "hot"}};
  outcome.diagnosis = Diagnosis{.time_bound_ns = {{"dram", {100, FactSource::measured}}},
                                .facts = {{"waves", {4, FactSource::measured}}}};
  const MoveInstance earlier{"unroll_loops", "loop:0", {{"factor", 4}}};
  ProposalContext context{.at = {spec, variant, device},
                          .node_key = {},
                          .outcome = &outcome,
                          .seed = 1,
                          .baseline = &outcome,
                          .path = {&earlier}};
  const auto value = [](const Features& features, std::string_view name) {
    double sum = 0;
    for (const auto& [key, x] : features) sum += key == name ? x : 0;
    return sum;
  };
  const MoveInstance instance{"unroll_loops", "loop:1", {{"factor", 8}}};
  const Features features = NodeFeatures(context).of(instance);
  CHECK(value(features, "move=unroll_loops") == 1);
  CHECK(value(features, "again=unroll_loops") == 1);
  CHECK(value(features, "after=unroll_loops>unroll_loops") == 0.4);
  CHECK(value(features, "site=unroll_loops@loop") == 0.4);
  CHECK(value(features, "headroom") == doctest::Approx(std::log(10.0) / 2));
  CHECK(value(features, "unroll_loops*headroom") ==
        doctest::Approx(0.4 * value(features, "headroom")));
  CHECK(value(features, "unroll_loops.factor") == doctest::Approx(std::log2(9.0) / 4));
  CHECK(value(features, "threads") == doctest::Approx((std::log2(257.0) - 8) / 2));
  context.outcome = nullptr;  // nothing is known
  context.baseline = nullptr;
  for (const auto& [name, x] : NodeFeatures(context).of(instance)) CHECK(std::isfinite(x));
}

TEST_CASE("a model survives its text, and damage is named") {
  const GainModel model = fit_gain_model(lawful(3, 50, 0.1));
  const GainModel again = GainModel::parse(model.text(), "m.json");
  const Features x{{"1", 1}, {"a", 0.3}, {"b", 0.9}};
  CHECK(again.text() == model.text());
  CHECK(again.predict(x).mean == model.predict(x).mean);
  CHECK(again.predict(x).variance == model.predict(x).variance);
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string text = model.text();
    text.replace(text.find(from), from.size(), to);
    try {
      static_cast<void>(GainModel::parse(text, "m.json"));
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(refused("warpath-gain-model", "other").find("m.json:/format") != std::string::npos);
  CHECK(refused("\"noise\": ", "\"noise\": -").find("m.json:/noise") != std::string::npos);
  CHECK(refused("\"inverse\": \"", "\"inverse\": \"AAAA").find("m.json:/inverse") !=
        std::string::npos);
  CHECK(refused("\"a\"", "\"z\"").find("m.json:/names") != std::string::npos);
}

TEST_CASE("the prior prefers what the model expects to gain, and wants a model") {
  std::vector<GainExample> examples;
  Rng rng(1, "moves");
  for (const char* kernel : {"k0", "k1", "k2"}) {
    for (int i = 0; i < 200; ++i) {
      const bool good = i % 2 == 0;
      const double gain = (good ? 0.4 : -0.4) + 0.1 * normal(rng);
      examples.push_back({.kernel = kernel,
                          .node = 0,
                          .move = good ? "good" : "bad",
                          .features = {{"1", 1}, {good ? "move=good" : "move=bad", 1}},
                          .gain = gain,
                          .improved = gain >= kImproved});
    }
  }
  const std::string text = fit_gain_model(examples).text();
  const PriorRegistry& registry = registered_priors();
  const Options options;
  const auto prior = registry.create(
      "test", "learned", {.options = &options, .read = [&](std::string_view name) {
                            return name == kModelFile ? std::optional(text) : std::nullopt;
                          }});
  const KernelSpec spec;
  const Variant variant;
  const DeviceFacts device;
  std::vector<Proposal> proposals;
  for (const char* move : {"bad", "good"})
    proposals.push_back({.instance = {move, "", {}}, .variant = std::nullopt, .why = ""});
  std::vector<double> p;
  prior->evaluate({.at = {spec, variant, device}, .node_key = {}}, proposals, p);
  CHECK(p[1] > 0.9);
  CHECK(p[0] >= 0.05);  // the floor
  CHECK(prior->files().at(std::string(kModelFile)) == text);
  CHECK_THROWS_WITH_AS(static_cast<void>(registry.create("test", "learned", {.options = &options})),
                       doctest::Contains("prior.model"), Error);
}

TEST_SUITE_END();
