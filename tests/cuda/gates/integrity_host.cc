#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <set>

#include "engine/base/registry.h"
#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "engine/spec/spec_load.h"
#include "experiments/setup/candidates.h"
#include "register_runners.h"
#include "runners/host/options.h"

using warpath::Candidate;
using warpath::GateResult;
using warpath::Status;
namespace fs = std::filesystem;

namespace {

/// Rows of the catalogue that the host runner shows by itself: short cuts on what the data look
/// like, accesses outside, shared buffers.
const std::set<std::int64_t> kRows{11, 55, 66};

std::unique_ptr<warpath::Runner> host_runner() {
  static warpath::Options options;  // outlives the runner
  options.of<warpath::HostOptions>().threads = 2;
  options.of<warpath::HostOptions>().timing_seconds = 0.01;
  options.of<warpath::HostOptions>().min_samples = options.of<warpath::HostOptions>().max_samples =
      3;
  options.of<warpath::HostOptions>().launch_seconds = 5;
  const warpath::RunnerRegistry& registry = warpath::registered_runners();
  warpath::RunnerConfig config;
  config.options = &options;
  return registry.create("--runner", "host", config);
}

/// Judges the kernels of a folder of tests/data/integrity that `wanted` names, as its list expects;
/// how many of them were bad and how many honest.
template <class Wanted>
std::pair<int, int> judge_all(warpath::Runner& runner, const std::string& family, Wanted wanted) {
  const fs::path folder = fs::path(WARPATH_SOURCE_ROOT) / "tests" / "data" / "integrity" / family;
  const auto specs = warpath::load_specs((folder / "spec.json").string());
  REQUIRE(specs.size() == 1);
  const warpath::KernelSpec& spec = specs.front();
  runner.prepare(spec);
  int bad = 0, honest = 0;
  for (const Candidate& candidate :
       warpath::read_candidates(spec, {(folder / "list.jsonl").string()})) {
    if (!wanted(candidate)) continue;
    CAPTURE(family);
    CAPTURE(candidate.name);
    const auto outcome = runner.run({.spec = spec,
                                     .variant = candidate.variant,
                                     .key = {},
                                     .seed = 3,
                                     .stage = warpath::Stage::confirmation},
                                    {});
    CAPTURE(outcome.log);
    CAPTURE(outcome.verdict.summary());
    const bool is_honest = candidate.expectation.status == "ok";
    CHECK((outcome.status == Status::ok) == is_honest);
    (is_honest ? honest : bad) += 1;
  }
  return {bad, honest};
}

/// All kernels of these folders: how many were bad and how many honest.
std::pair<int, int> judge_whole(std::initializer_list<const char*> families) {
  const auto runner = host_runner();
  int bad = 0, honest = 0;
  for (const char* const family : families) {
    const auto [refused, passed] =
        judge_all(*runner, family, [](const Candidate&) { return true; });
    bad += refused, honest += passed;
  }
  return {bad, honest};
}

}  // namespace

TEST_SUITE_BEGIN("integrity_host");

TEST_CASE(
    "on the host runner too, short cuts on structure, accesses outside and broken aliasing are "
    "refused, and honest look-alikes pass") {
  const auto runner = host_runner();
  int bad = 0, honest = 0;
  for (const char* const family : {"axpy", "gemm", "in_place"}) {
    const auto [refused, passed] = judge_all(*runner, family, [](const Candidate& candidate) {
      // What the read-only path returns shows in the code alone.
      return kRows.contains(candidate.expectation.row) &&
             !warpath::is_expected_gate(candidate.expectation, "read_only_path");
    });
    bad += refused, honest += passed;
  }
  MESSAGE(bad << " bad kernels, " << honest << " honest ones");
  CHECK(bad >= 20);
  CHECK(honest >= 5);
}

TEST_CASE(
    "on the host runner too, what is lost between threads, wrong at the ends of ranges, at "
    "thresholds or of one zero alone, or reads outside where an input is at its end, is refused") {
  CHECK(judge_whole({"above", "first_least", "lookup", "row_bins", "transposed", "words"}) ==
        std::pair(14, 9));
}

TEST_CASE(
    "on the host runner too, what is right for the declared places, addresses, first values, "
    "scalars (all or one alone) and orders, for finite lines, or that reads outside where all "
    "places are none, is refused") {
  const auto runner = host_runner();
  int bad = 0, honest = 0;
  for (const char* const family :
       {"inversions", "label_loss", "momentum", "padded_bag", "page_write", "segment_sum"}) {
    const auto [refused, passed] =
        judge_all(*runner, family, [](const Candidate&) { return true; });
    bad += refused, honest += passed;
  }
  const auto [refused, passed] = judge_all(*runner, "rowsum", [](const Candidate& candidate) {
    return candidate.name == "next_row_times_zero" || candidate.name == "honest_shuffles";
  });
  CHECK(bad + refused == 12);
  CHECK(honest + passed == 8);
}

TEST_CASE(
    "on the host runner too, what is right where tensors differ, matrices have no symmetry, lines "
    "are not nearly in order, a scalar is 0 or a mask names all is refused") {
  CHECK(judge_whole({"cosine", "gemv", "masked_square", "own_product", "top_two"}) ==
        std::pair(13, 5));
}

TEST_CASE(
    "on the host runner too, what loses numbers beside a large one, bounds a chain of places, has "
    "room for a part of the largest or leaves the range where the spec's kernel does not is "
    "refused; another order of elimination passes") {
  CHECK(judge_whole({"complex_rows", "link_ends", "safe_unit", "top_eight", "tridiagonal",
                     "window_sums"}) == std::pair(8, 12));
}

TEST_CASE(
    "on the host runner too, what takes the begin of a mask for all of it or pairs at odd places "
    "is "
    "refused; padding with zeros before a clamp, -infinity for what is left out and another order "
    "of a quotient that is never of zeros pass") {
  CHECK(judge_whole({"clipped_taps", "kept_softmax", "log_ratio", "row_pairs"}) == std::pair(4, 4));
}

TEST_CASE(
    "on the host runner too, a read of the first row of no rows, a limit on their length and a "
    "quotient of infinities are refused; zero points that are factored out and a gate by tanh "
    "pass") {
  CHECK(judge_whole({"gated", "segment_mean", "sparse_rows", "zero_points"}) == std::pair(4, 4));
}

TEST_CASE(
    "on the host runner too, what is right for weights that are not all 1, runs of other lengths, "
    "places that do not count upwards, sums that are far apart, scores above a mask's "
    "number or small numbers alone is refused") {
  CHECK(judge_whole({"best_match", "channel_scale", "peak_and_mean", "run_range", "take",
                     "weighted_prefix"}) == std::pair(7, 9));
}

TEST_CASE(
    "on the host runner too, a mask that multiplies, halves rounded another way, NaN that is lost, "
    "a least finite number that is none, lanes in step and a table read before it is made are "
    "refused") {
  CHECK(judge_whole({"butterfly", "coded", "masked_rows", "peak_or_nan", "quantise", "row_peak"}) ==
        std::pair(8, 6));
}

TEST_CASE(
    "where a kernel is its own reference, other orders of its sums pass on inputs that are all "
    "alike, and terms that are cut or left out do not") {
  const auto runner = host_runner();
  const auto [bad, honest] = judge_all(*runner, "norm_own", [](const Candidate&) { return true; });
  CHECK(bad == 4);
  CHECK(honest == 1);
}

TEST_SUITE_END();
