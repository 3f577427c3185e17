#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "engine/base/rng.h"
#include "engine/plugin/device_facts.h"
#include "engine/plugin/runner.h"
#include "engine/plugin/variant_io.h"
#include "engine/plugin/versions.h"
#include "engine/run/record.h"
#include "engine/spec/variant_patch.h"

using namespace warpath;

namespace {

ArgSpec number(const std::string& name, std::int64_t value) {
  ArgSpec out;
  out.name = name;
  out.type = ArgType::integer;
  out.role = ArgRole::scalar;
  out.value = value;
  return out;
}

/// A workload for each (n, c).
KernelSpec spec(const std::vector<std::pair<std::int64_t, std::int64_t>>& sizes) {
  KernelSpec out;
  out.name = "versions";
  out.kernel_name = "rows";
  out.source = "extern \"C\" __global__ void rows(float* y, int n, int c) {}";
  ArgSpec y;
  y.name = "y";
  y.role = ArgRole::output;
  y.tensor.emplace().shape = {Expression::parse("n * c", "test")};
  out.io.args = {y, number("n", 1), number("c", 1)};
  for (const auto& [n, c] : sizes) {
    Workload& w = out.workloads.emplace_back();
    w.name = std::to_string(n) + " x " + std::to_string(c);
    w.scalars = {{"n", n}, {"c", c}};
  }
  return out;
}

Variant version(const KernelSpec& of, const std::string& text, Bindings when) {
  Variant out = baseline_variant(of);
  out.source += text;
  out.when = std::move(when);
  return out;
}

/// A version for (1, 10), one for c = 20, the general kernel.
Variant versions(const KernelSpec& of) {
  Variant out = version(of, " int first;", {{"n", 1}, {"c", 10}});
  out.versions = {version(of, " int second;", {{"c", 20}}), version(of, "", {})};
  return out;
}

std::vector<Bindings> sizes_of_versions(const KernelSpec& of) {
  return version_sizes(of, DeviceFacts{});
}

}  // namespace

TEST_SUITE_BEGIN("variant_versions");

TEST_CASE("a workload is served by the first version whose sizes are its own, whatever the sizes") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "versions", 0);
    std::vector<std::pair<std::int64_t, std::int64_t>> sizes;
    for (int i = 0; i < 5; ++i)
      sizes.emplace_back(static_cast<std::int64_t>(rng.below(3)),
                         static_cast<std::int64_t>(10 * rng.below(4)));
    const KernelSpec of = spec(sizes);
    const Variant variant = versions(of);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Variant& kernel = version_for(of, variant, of.workloads[i]);
      const auto [n, c] = sizes[i];
      const std::string expected = n == 1 && c == 10 ? " int first;"
                                   : c == 20         ? " int second;"
                                                     : "";
      CHECK(kernel.source == of.source + expected);
      for (const auto& [name, value] : kernel.when)
        CHECK(std::get<std::int64_t>(of.workloads[i].scalars.at(name)) == value);
    }
  }
}

TEST_CASE("the key of a variant covers its versions and the sizes they are launched for") {
  const KernelSpec of = spec({{1, 10}, {2, 20}});
  const Variant variant = versions(of);
  const Hash128 key = variant_key(variant);
  CHECK(variant_key(variant) == key);
  CHECK(variant_key(alone(variant)) != key);
  Variant other = variant;
  other.versions[0].when["c"] = 30;
  CHECK(variant_key(other) != key);
  other = variant;
  other.versions[1].source += " int third;";
  CHECK(variant_key(other) != key);
  other = variant;
  std::swap(other.versions[0], other.versions[1]);
  CHECK(variant_key(other) != key);
  other = variant;
  other.versions[0].source += "  // a comment";
  CHECK(variant_key(other) == key);
}

TEST_CASE("patches, edits and JSON keep versions") {
  const KernelSpec of = spec({{1, 10}, {2, 20}});
  const Variant whole = baseline_variant(of), split = versions(of);
  Variant later = split;
  later.source += " // more";
  later.versions[0].source = "x" + later.versions[0].source;
  const std::vector<Variant> all{whole, split, later};
  for (const Variant& from : all) {
    for (const Variant& to : all) {
      CHECK(patched(from, patch_between(from, to)) == to);
      const VariantEdit edit = edit_between(from, to);
      CHECK(fits(from, edit));
      CHECK(edited(from, edit) == to);
      const auto json = to_json(patch_between(from, to));
      CHECK(patched(from, patch_from_json(json, "test")) == to);
    }
    CHECK(variant_from_json(to_json(from), "test") == from);
  }
  // What stays is not repeated.
  CHECK((*patch_between(split, later).versions)[1] == VariantPatch{});
  CHECK_FALSE(to_json(whole).contains("versions"));
  VariantEdit beyond = edit_between(split, later);
  (*beyond.versions)[0].begin = 1000;
  CHECK_FALSE(fits(split, beyond));
}

TEST_CASE("terms and difference name every version") {
  const KernelSpec of = spec({{1, 10}, {2, 20}});
  const Variant split = versions(of);
  const std::string terms = terms_text(split);
  CHECK(terms.find("source.cu for c = 10 and n = 1\n") != std::string::npos);
  CHECK(terms.find("source_1.cu for c = 20\n") != std::string::npos);
  CHECK(terms.find("source_2.cu for any size\n") != std::string::npos);
  const std::string diff = variant_diff(baseline_variant(of), split);
  CHECK(diff.find("source_1.cu") != std::string::npos);
  CHECK(diff.find("int second;") != std::string::npos);
}

TEST_CASE("each size of the scored workloads may have a version, unless all sizes are the same") {
  CHECK(sizes_of_versions(spec({{1, 10}, {1, 10}})).empty());
  CHECK(sizes_of_versions(spec({{1, 10}, {2, 10}, {1, 10}})) ==
        std::vector<Bindings>{{{"n", 1}, {"c", 10}}, {{"n", 2}, {"c", 10}}});
  KernelSpec with_check = spec({{1, 10}, {2, 10}});
  with_check.workloads[1].role = WorkloadRole::regress;
  CHECK(sizes_of_versions(with_check) == std::vector<Bindings>{{{"n", 1}, {"c", 10}}});
}

TEST_CASE("of many sizes those arguments count that have few values") {
  std::vector<std::pair<std::int64_t, std::int64_t>> sizes;
  for (std::int64_t n = 1; n <= 6; ++n) {
    sizes.emplace_back(n, 10);
    sizes.emplace_back(n, 20);
  }
  CHECK(sizes_of_versions(spec(sizes)) == std::vector<Bindings>{{{"c", 10}}, {{"c", 20}}});
}

TEST_CASE("of many sizes that have no argument with few values the heaviest count") {
  KernelSpec of = spec({{1, 10}, {2, 20}, {3, 30}, {4, 40}, {5, 50}, {6, 60}});
  of.workloads[5].weight = 3;
  of.workloads[4].weight = 2;
  const auto sizes = sizes_of_versions(of);
  REQUIRE(sizes.size() == kMostVersions);
  CHECK(sizes[0].at("n") == 6);
  CHECK(sizes[1].at("n") == 5);
  CHECK(sizes[2].at("n") == 1);
}

TEST_CASE("constraints and limits of a launch are those of the version that is launched") {
  KernelSpec of = spec({{1, 10}, {2, 20}});
  Variant variant = versions(of);
  variant.versions[0].launch.block[0] = Expression::parse("c > 10 ? 64 : 4096", "test");
  std::string why;
  CHECK(satisfies_constraints(of, variant, why));
  variant.versions[0].launch.block[0] = Expression(4096);
  CHECK_FALSE(satisfies_constraints(of, variant, why));
  CHECK(why.find("2 x 20") != std::string::npos);
}

TEST_SUITE_END();
