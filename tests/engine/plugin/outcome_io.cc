#include "engine/plugin/outcome_io.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/json/json_record.h"
#include "engine/plugin/variant_io.h"

using namespace warpath;

namespace {

std::string random_text(Rng& rng) {
  std::string out;
  for (std::uint64_t n = rng.below(20); n > 0; --n) out += static_cast<char>(rng.below(256));
  return out;
}

double random_number(Rng& rng) {
  switch (rng.below(8)) {
    case 0:
      return std::numeric_limits<double>::infinity();
    case 1:
      return -std::numeric_limits<double>::infinity();
    case 2:
      return -0.0;
    case 3:
      return std::numeric_limits<double>::denorm_min();
    default: {
      const double x = std::bit_cast<double>(rng.next());
      return std::isnan(x) ? 1.5 : x;
    }
  }
}

LaunchNumbers random_launch(Rng& rng) {
  LaunchNumbers out;
  for (auto& x : out.grid) x = static_cast<std::int64_t>(rng.next());
  out.dynamic_smem_bytes = static_cast<std::int64_t>(rng.next());
  return out;
}

Outcome random_outcome(Rng& rng) {
  Outcome out;
  out.status = static_cast<Status>(rng.below(kStatusNames.size()));
  for (std::uint64_t n = rng.below(4); n > 0; --n) {
    WorkloadTiming t{.workload = random_text(rng),
                     .samples_ns = {},
                     .launch = random_launch(rng),
                     .cache = random_text(rng)};
    for (std::uint64_t m = rng.below(6); m > 0; --m) t.samples_ns.push_back(random_number(rng));
    out.timings.push_back(t);
  }
  for (std::uint64_t n = rng.below(4); n > 0; --n) {
    out.verdict.gates.push_back(
        {random_text(rng), static_cast<GateResult::Answer>(rng.below(3)), random_text(rng)});
  }
  out.log = random_text(rng);
  out.compile_seconds = random_number(rng);
  out.run_seconds = random_number(rng);
  out.binary_key = random_text(rng);
  if (rng.below(2) == 1) {
    out.diagnosis.emplace();
    out.diagnosis->facts[random_text(rng)] = {random_number(rng),
                                              static_cast<FactSource>(rng.below(3))};
    out.diagnosis->time_bound_ns["dram"] = {random_number(rng), FactSource::measured};
  }
  return out;
}

}  // namespace

TEST_SUITE("outcome_io") {
  TEST_CASE("any recordable outcome survives a round trip through text, bit for bit") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      CAPTURE(seed);
      Rng rng(seed, "outcome");
      const Outcome outcome = recordable(random_outcome(rng));
      const std::string text = to_json(outcome).dump();
      const Outcome back = outcome_from_json(nlohmann::json::parse(text), "x");
      REQUIRE(back == outcome);
      REQUIRE(to_json(back).dump() == text);
    }
  }

  TEST_CASE("NaN samples keep their place") {
    Outcome outcome;
    outcome.timings.push_back(
        {.workload = "w", .samples_ns = {1, std::nan(""), 3}, .launch = {}, .cache = "cpu"});
    const Outcome back = outcome_from_json(to_json(recordable(outcome)), "x");
    REQUIRE(back.timings[0].samples_ns.size() == 3);
    CHECK(std::isnan(back.timings[0].samples_ns[1]));
  }

  TEST_CASE("text that is no UTF-8 becomes text that is") {
    CHECK(valid_utf8("plain \xC3\xA9") == "plain \xC3\xA9");
    CHECK(valid_utf8("\xFF") == "\xEF\xBF\xBD");
    CHECK(valid_utf8("\xC0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD");  // not the shortest form
    CHECK(valid_utf8("\xED\xA0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
    CHECK(valid_utf8("\xE2\x82") == "\xEF\xBF\xBD\xEF\xBF\xBD");                  // cut short
  }

  TEST_CASE("a source in any encoding is kept byte for byte") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      CAPTURE(seed);
      Rng rng(seed, "text");
      const std::string text = random_text(rng);
      const auto json = nlohmann::json::parse(any_text_to_json(text).dump());
      REQUIRE(any_text(JsonCursor(json, "x")) == text);
    }
  }

  TEST_CASE("a variant is its parent and what changed") {
    Variant parent{.source = "__global__ void f() {}",
                   .kernel_name = "f",
                   .launch = {},
                   .compiler_options = {"-O3"},
                   .tunables = {{"A", 1}}};
    Variant child = parent;
    child.tunables["A"] = 2;
    child.launch.block[0] = Expression::parse("A * 32", "test");
    const auto json = nlohmann::json::parse(to_json(patch_between(parent, child)).dump());
    CHECK_FALSE(json.contains("source"));
    CHECK(patched(parent, patch_from_json(json, "x")) == child);
    CHECK(variant_from_json(to_json(child), "x") == child);
    CHECK(to_json(patch_between(parent, parent)).empty());
  }

  TEST_CASE("a proposal survives a round trip") {
    Proposal proposal;
    proposal.instance = {.move = "m", .site = "s", .parameters = {{"p", 3}}};
    proposal.weight = 0.1;
    proposal.source = "llm";
    proposal.variant = Variant{
        .source = "x", .kernel_name = "k", .launch = {}, .compiler_options = {}, .tunables = {}};
    proposal.why = "because";
    const Proposal back = proposal_from_json(nlohmann::json::parse(to_json(proposal).dump()), "x");
    CHECK(back.instance == proposal.instance);
    CHECK(back.weight == proposal.weight);
    CHECK(back.variant == proposal.variant);
    CHECK(back.why == proposal.why);
  }

  TEST_CASE("a verdict sums itself up in one line") {
    using enum GateResult::Answer;
    Verdict verdict;
    CHECK_FALSE(verdict.passed());
    verdict.gates = {{"compile", pass, ""}, {"racecheck", not_run, "no tool"}};
    CHECK(verdict.passed());
    CHECK(verdict.summary() == "pass 1/2 (racecheck not run: no tool)");
    verdict.gates.push_back({"memcheck", not_run, "no tool"});
    verdict.gates.push_back({"counters", not_run, "not permitted"});
    CHECK(verdict.summary() ==
          "pass 1/4 (racecheck, memcheck not run: no tool; counters not run: not permitted)");
    for (const char* const name : {"initcheck", "synccheck"})
      verdict.gates.push_back({name, not_run, "no tool"});
    CHECK(verdict.summary() ==
          "pass 1/6 (4 gates not run: no tool; counters not run: not permitted)");
    verdict.gates.push_back({"reference", fail, "o[3] = 1, expected 2"});
    CHECK_FALSE(verdict.passed());
    CHECK(verdict.summary() == "reference fail: o[3] = 1, expected 2");
  }
}
