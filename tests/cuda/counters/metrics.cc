#include "runners/cuda/counters/metrics.h"

#include <doctest/doctest.h>

#include <limits>
#include <set>

using warpath::Diagnosis;
using warpath::FactSource;
using warpath::cuda::counter_names;
using warpath::cuda::Metric;
using warpath::cuda::metric_values;
using warpath::cuda::metrics;
using warpath::cuda::MetricSource;
using warpath::cuda::Readings;
using warpath::cuda::resolve_metrics;

namespace {

constexpr MetricSource kRate[] = {{.numerator = "hits.sum", .denominator = "lookups.sum"},
                                  {.numerator = "rate.pct", .scale = 0.01}};
constexpr MetricSource kStall[] = {
    {.numerator = "waiting.sum", .denominator = "active.sum", .less = "issuing.sum"}};
constexpr Metric kTwo[] = {{"rate", "share", "", kRate}, {"stall", "share", "", kStall}};

auto offering(std::set<std::string_view> names) {
  return [names = std::move(names)](std::string_view name) { return names.contains(name); };
}

}  // namespace

TEST_SUITE_BEGIN("metrics");

TEST_CASE("every metric has a name of its own, a unit, help and a source") {
  std::set<std::string_view> names;
  for (const Metric& metric : metrics()) {
    CAPTURE(metric.name);
    CHECK(names.insert(metric.name).second);
    CHECK(!metric.unit.empty());
    CHECK(!metric.help.empty());
    CHECK(!metric.sources.empty());
    for (const MetricSource& source : metric.sources)
      CHECK(source.numerator.find('.') != std::string_view::npos);
  }
  CHECK(names.size() >= 24);
}

TEST_CASE("a metric takes the first source that is offered whole") {
  const auto both = resolve_metrics(kTwo, offering({"hits.sum", "lookups.sum", "rate.pct"}));
  REQUIRE(both.size() == 1);
  CHECK(both[0].source.numerator == "hits.sum");
  const auto second = resolve_metrics(kTwo, offering({"hits.sum", "rate.pct"}));
  REQUIRE(second.size() == 1);
  CHECK(second[0].source.numerator == "rate.pct");
  CHECK(resolve_metrics(kTwo, offering({"waiting.sum", "active.sum"})).empty());
}

TEST_CASE("counters that several metrics need are asked for once") {
  const auto resolved = resolve_metrics(metrics(), [](std::string_view) { return true; });
  const auto names = counter_names(resolved);
  CHECK(resolved.size() == metrics().size());
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
}

TEST_CASE("a stall share leaves out the warps that issue") {
  const auto resolved =
      resolve_metrics(kTwo, offering({"waiting.sum", "active.sum", "issuing.sum", "rate.pct"}));
  const Readings values = metric_values(
      resolved, {{"waiting.sum", 30}, {"active.sum", 100}, {"issuing.sum", 40}, {"rate.pct", 75}});
  CHECK(values.at("stall") == doctest::Approx(0.5));
  CHECK(values.at("rate") == doctest::Approx(0.75));
}

TEST_CASE("a metric without its counters, without a denominator or not finite is left out") {
  const auto resolved = resolve_metrics(kTwo, [](std::string_view) { return true; });
  CHECK(metric_values(resolved, {}).empty());
  CHECK(metric_values(resolved, {{"hits.sum", 0}, {"lookups.sum", 0}}).empty());
  CHECK(
      metric_values(resolved, {{"waiting.sum", 1}, {"active.sum", 5}, {"issuing.sum", 5}}).empty());
  CHECK(metric_values(resolved,
                      {{"hits.sum", std::numeric_limits<double>::quiet_NaN()}, {"lookups.sum", 2}})
            .empty());
}

TEST_CASE("values become measured facts and replace assumed ones") {
  Diagnosis diagnosis;
  diagnosis.facts["ipc"] = {1, FactSource::assumed};
  warpath::cuda::add_facts({{"ipc", 2.5}}, diagnosis);
  CHECK(diagnosis.facts.at("ipc") == warpath::Fact{2.5, FactSource::measured});
}
TEST_SUITE_END();
