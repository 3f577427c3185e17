#include "engine/plugin/versions.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "engine/base/rng.h"
#include "moves/contract/source_contract.h"
#include "tests/support/example_kernel.h"

using namespace warpath;

namespace {

/// Row sums, 64 rows of `columns` floats.
ExampleKernel row_sums(std::int64_t columns = 1024) {
  return {
      "input: float32 x[N, C]\noutput: float32 y[N]\nscalar: int32 N = 64\nscalar: int32 C = " +
          std::to_string(columns) + "\ngrid: ceil_div(N, 64)\nblock: 64\n",
      "extern \"C\" __global__ void row_sums(const float* __restrict__ x, float* __restrict__ y,"
      " int N, int C) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= N) return;\n"
      "  float sum = 0.0f;\n"
      "  for (int c = 0; c < C; ++c) sum += x[i * C + c];\n"
      "  y[i] = sum;\n"
      "}\n"};
}

void add_workload(KernelSpec& spec, std::int64_t columns, WorkloadRole role) {
  Workload other = spec.workloads.front();
  other.name = "of " + std::to_string(columns);
  other.role = role;
  other.scalars["C"] = columns;
  spec.workloads.push_back(std::move(other));
}

ExampleKernel with_second(std::int64_t columns, WorkloadRole role) {
  ExampleKernel out = row_sums();
  add_workload(out.spec(), columns, role);
  return out;
}

const Variant& variant(const ExampleKernel& kernel) {
  return kernel.at().variant;
}

bool has(const Variant& kernel, const std::string& text) {
  return kernel.source.find(text) != std::string::npos;
}

/// The last version holds for any size, the others for sizes of the spec, and none relies on more.
void check_versions(const ExampleKernel& kernel, const Variant& made) {
  const MoveContext at = kernel.at();
  if (made.versions.empty()) {
    CHECK(made.when.empty());
    return;
  }
  const std::vector<Bindings> sizes = version_sizes(at.spec, at.device);
  const std::vector<const Variant*> kernels = kernels_of(made);
  CHECK(kernels.size() == sizes.size() + 1);
  CHECK(kernels.back()->when.empty());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    CHECK(kernels[i]->when == sizes[i]);
    CHECK((i == 0 || kernels[i]->versions.empty()));
  }
  const auto contracts = source_contracts(at.spec, at.device, made);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    for (const SourceContract::Fixed& fixed : contracts[i].sizes) {
      CAPTURE(fixed.argument);
      const auto it = kernels[i]->when.find(fixed.argument);
      // A size that all workloads have in common may be fixed in any of them.
      std::set<std::int64_t> values;
      for (const Workload& w : at.spec.workloads)
        values.insert(sizes_of(at.spec, w).at(fixed.argument));
      if (it == kernels[i]->when.end()) {
        CHECK(values.size() == 1);
      } else {
        CHECK(fixed.values == std::vector<std::string>{std::to_string(it->second)});
      }
    }
  }
}

}  // namespace

TEST_SUITE_BEGIN("move_versions");

TEST_CASE("a move that holds for all sizes leaves one kernel") {
  ExampleKernel one = row_sums(), two = with_second(4096, WorkloadRole::score);
  REQUIRE(one.step("launch_bounds") == "");
  REQUIRE(two.step("launch_bounds") == "");
  CHECK(variant(two).versions.empty());
  CHECK(variant(one) == variant(two));
}

TEST_CASE("a size that workloads do not share becomes a constant of a version for each") {
  ExampleKernel kernel = with_second(4096, WorkloadRole::score);
  REQUIRE(kernel.step("specialise_shape@shape") == "");
  const Variant& made = variant(kernel);
  REQUIRE(made.versions.size() == 2);
  CHECK(has(made, "constexpr int C = 1024;"));
  CHECK(has(made.versions[0], "constexpr int C = 4096;"));
  CHECK(made.versions[0].when == Bindings{{"N", 64}, {"C", 4096}});
  CHECK(made.versions[1] == baseline_variant(kernel.spec()));
  check_versions(kernel, made);
}

TEST_CASE("a size that all workloads share needs no versions") {
  ExampleKernel kernel = with_second(4096, WorkloadRole::score);
  REQUIRE(kernel.step("specialise_shape@argument:N") == "");
  CHECK(variant(kernel).versions.empty());
  CHECK(has(variant(kernel), "constexpr int N = 64;"));
}

TEST_CASE("a workload that is only checked runs the general kernel, which stays as it was") {
  ExampleKernel one = row_sums(), two = with_second(77, WorkloadRole::regress);
  for (const char* const step : {"unroll_loops@loop:0(factor=4)", "specialise_shape@shape",
                                 "vectorize_global_loads@loop:0(width=4)", "launch_bounds"}) {
    CAPTURE(step);
    const std::string why = one.step(step);
    CHECK(two.step(step) == why);
    check_versions(two, variant(two));
  }
  const Variant& made = variant(two);
  REQUIRE(made.versions.size() == 1);
  CHECK(alone(made) == variant(one));
  // What held for both before the sizes were told apart.
  CHECK(has(made.versions[0], "unroll 4"));
  CHECK_FALSE(has(made.versions[0], "constexpr int C"));
}

TEST_CASE("every move that applies with one size applies beside a workload of another") {
  ExampleKernel one = row_sums(), two = with_second(77, WorkloadRole::regress);
  for (const char* const step : {"", "specialise_shape@shape"}) {
    if (*step != '\0') {
      REQUIRE(one.step(step) == "");
      REQUIRE(two.step(step) == "");
    }
    const auto with = two.offered();
    for (const MoveOffer& offer : one.offered()) {
      CAPTURE(offer.instance.text());
      const auto same = std::ranges::find(with, offer.instance, &MoveOffer::instance);
      REQUIRE(same != with.end());
      const Variant made = edited(variant(two), same->made.edit);
      check_versions(two, made);
      CHECK(alone(version_for(two.spec(), made, two.spec().workloads.front())) ==
            edited(variant(one), offer.made.edit));
    }
  }
}

TEST_CASE("a result that breaks a constraint at one size leaves that size as it was") {
  ExampleKernel kernel{
      "input: float32 x[N]\noutput: float32 y[N]\nscalar: int32 N = 1024\n"
      "tunable: BLOCK = 64 of 64, 128\ngrid: ceil_div(N, BLOCK)\nblock: BLOCK\n",
      "extern \"C\" __global__ void copy(const float* x, float* y, int N) {\n"
      "  int i = blockIdx.x * BLOCK + threadIdx.x;\n  if (i < N) y[i] = x[i];\n}\n"};
  Workload small = kernel.spec().workloads.front();
  small.name = "small";
  small.scalars["N"] = std::int64_t{64};
  kernel.spec().workloads.push_back(small);
  kernel.spec().constraints = {Expression::parse("BLOCK <= N", "test")};
  REQUIRE(kernel.step("set_tunable@tunable:BLOCK(value=128)") == "");
  const Variant& made = variant(kernel);
  REQUIRE(made.versions.size() == 2);
  CHECK(made.tunables.at("BLOCK") == 128);
  CHECK(made.versions[0].tunables.at("BLOCK") == 64);
  CHECK(made.versions[1].tunables.at("BLOCK") == 64);
}

TEST_CASE("a general kernel that serves a scored workload takes part") {
  ExampleKernel kernel = row_sums();
  for (const std::int64_t columns : {1000, 2048, 3000, 4096, 5000})
    add_workload(kernel.spec(), columns, WorkloadRole::score);
  REQUIRE(kernel.step("specialise_shape@shape") == "");
  REQUIRE(variant(kernel).versions.size() == kMostVersions);
  CHECK_FALSE(has(variant(kernel).versions.back(), "constexpr int C"));
  REQUIRE(kernel.step("launch_bounds") == "");
  for (const Variant* const one : kernels_of(variant(kernel)))
    CHECK(has(*one, "__launch_bounds__"));
}

TEST_CASE(
    "whatever is offered along random ways, no version serves sizes that it does not hold for") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "walk", 0);
    ExampleKernel kernel = with_second(seed == 1 ? 77 : 4096, WorkloadRole::score);
    if (seed == 2) add_workload(kernel.spec(), 50, WorkloadRole::regress);
    for (int depth = 0; depth < 4; ++depth) {
      const auto offered = kernel.offered();
      if (offered.empty()) break;
      for (const MoveOffer& offer : offered) {
        CAPTURE(offer.instance.text());
        const Variant made = edited(variant(kernel), offer.made.edit);
        CHECK(variant_key(made) == offer.made.key);
        check_versions(kernel, made);
      }
      REQUIRE(kernel.step(offered[rng.below(offered.size())].instance.text()) == "");
    }
  }
}

TEST_SUITE_END();
