#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "engine/base/error.h"
#include "engine/plugin/variant_io.h"
#include "engine/run/record.h"
#include "engine/spec/variant.h"

using namespace warpath;

namespace {

/// y[n] = sum of x[n, m], by partial sums and a second kernel.
KernelSpec spec() {
  KernelSpec out;
  out.name = "sums";
  ArgSpec x, y, n;
  x.name = "x";
  x.tensor.emplace().shape = {Expression::parse("n", "test")};
  y.name = "y";
  y.role = ArgRole::output;
  y.tensor.emplace().shape = {Expression(1)};
  n.name = "n";
  n.type = ArgType::integer;
  n.role = ArgRole::scalar;
  n.value = std::int64_t{1000};
  out.io.args = {x, y, n};
  out.source = "extern \"C\" __global__ void sums(const float* x, float* y, int n) {}";
  out.kernel_name = "sums";
  out.workloads.emplace_back().name = "default";
  return out;
}

Variant two_pass() {
  Variant out = baseline_variant(spec());
  out.scratch = {
      {.name = "partial", .size_bytes = Expression::parse("4 * ceil_div(n, 256)", "test")}};
  out.before = {{.kind = LaunchStep::Kind::zero,
                 .kernel_name = "",
                 .launch = {},
                 .arguments = {"y", "partial"}}};
  LaunchStep last{.kind = LaunchStep::Kind::kernel,
                  .kernel_name = "add_partials",
                  .launch = {},
                  .arguments = {"partial", "y", "n"}};
  last.launch.block[0] = Expression(256);
  out.after = {last};
  return out;
}

std::string problem_of(const Variant& variant) {
  try {
    static_cast<void>(extra_numbers(spec(), variant, spec().workloads.front()));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE_BEGIN("variant_extras");

TEST_CASE("extras are part of the key, and without any the key is what it was") {
  const Variant plain = baseline_variant(spec());
  CHECK_FALSE(plain.has_extras());
  Variant next = plain;
  next.scratch = two_pass().scratch;
  CHECK(variant_key(next) != variant_key(plain));
  std::set<std::string> keys{variant_key(plain).hex(), variant_key(next).hex()};
  next.before = two_pass().before;
  keys.insert(variant_key(next).hex());
  next.after = two_pass().after;
  keys.insert(variant_key(next).hex());
  next.after[0].launch.block[0] = Expression(128);
  keys.insert(variant_key(next).hex());
  next.after[0].arguments.pop_back();
  keys.insert(variant_key(next).hex());
  std::swap(next.before, next.after);
  keys.insert(variant_key(next).hex());
  CHECK(keys.size() == 7);
}

TEST_CASE("JSON is lossless, and a variant without extras has no keys for them") {
  const Variant variant = two_pass();
  const nlohmann::json json = nlohmann::json::parse(to_json(variant).dump());
  CHECK(variant_from_json(json, "test") == variant);
  const nlohmann::json plain = to_json(baseline_variant(spec()));
  CHECK(plain.size() == 5);
  CHECK(variant_from_json(plain, "test") == baseline_variant(spec()));
  const VariantPatch patch = patch_between(variant, baseline_variant(spec()));
  CHECK(patched(variant, patch_from_json(to_json(patch), "test")) == baseline_variant(spec()));
  CHECK_THROWS_AS(variant_from_json(nlohmann::json{{"source", ""},
                                                   {"kernel_name", ""},
                                                   {"launch", to_json(LaunchPlan{})},
                                                   {"compiler_options", nlohmann::json::array()},
                                                   {"tunables", nlohmann::json::object()},
                                                   {"after", {{{"kernal", "k"}}}}},
                                    "test"),
                  Error);
}

TEST_CASE("sizes and arguments are resolved for a workload") {
  const ExtraNumbers numbers = extra_numbers(spec(), two_pass(), spec().workloads.front());
  CHECK(numbers.scratch_bytes == std::vector<std::int64_t>{16});
  REQUIRE(numbers.before.size() == 1);
  CHECK(numbers.before[0].arguments == std::vector<std::uint32_t>{1, 3});
  REQUIRE(numbers.after.size() == 1);
  CHECK(numbers.after[0].arguments == std::vector<std::uint32_t>{3, 1, 2});
  CHECK(numbers.after[0].launch.block[0] == 256);
  CHECK(step_kernels(two_pass()) == std::vector<std::string>{"add_partials"});
}

TEST_CASE("what cannot be launched is refused by name") {
  Variant variant = two_pass();
  variant.after[0].arguments[0] = "nothing";
  CHECK(contains(problem_of(variant), "nothing"));
  variant = two_pass();
  variant.before[0].arguments[0] = "x";
  CHECK(contains(problem_of(variant), "an output or a scratch buffer"));
  variant = two_pass();
  variant.scratch[0].name = "x";
  CHECK(contains(problem_of(variant), "a name of its own"));
  variant = two_pass();
  variant.scratch[0].size_bytes = Expression::parse("n - 1000", "test");
  CHECK(contains(problem_of(variant), "at least one byte"));
  variant = two_pass();
  variant.before.resize(kMaxExtras + 1);
  CHECK(contains(problem_of(variant), "at most 16"));
  std::string why;
  variant = two_pass();
  CHECK(satisfies_constraints(spec(), variant, why));
  variant.after[0].launch.block[0] = Expression(2048);
  CHECK_FALSE(satisfies_constraints(spec(), variant, why));
  CHECK(contains(why, "add_partials"));
}

TEST_CASE("the terms of a variant show them") {
  const std::string diff = variant_diff(baseline_variant(spec()), two_pass());
  CHECK(contains(diff, "+scratch partial: 4 * ceil_div(n, 256) bytes"));
  CHECK(contains(diff, "+before: zero y, partial"));
  CHECK(contains(diff, "+after: kernel add_partials(partial, y, n)"));
}

TEST_SUITE_END();
