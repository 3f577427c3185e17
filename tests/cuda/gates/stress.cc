#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "engine/spec/spec_load.h"
#include "experiments/setup/candidates.h"
#include "tests/support/stress_bench.h"

using warpath::Candidate;
using warpath::KernelSpec;
namespace fs = std::filesystem;

namespace {

fs::path data() {
  return fs::path(WARPATH_SOURCE_ROOT) / "tests" / "data";
}

/// Extents that need not be large here.
const std::map<std::string, std::pair<std::string, std::int64_t>> kSmaller{
    {"attention_causal", {"H", 1}}, {"bias_gelu_res", {"n", 9001}},
    {"groupnorm_silu", {"B", 1}},   {"hist256", {"n", 20003}},
    {"rowscan", {"N", 37}},         {"sgemm_tn_batched", {"BATCH", 2}},
    {"softmax_scaled", {"N", 41}},  {"stencil3d_r4", {"nz", 17}},
};

/// Structured families of a spec, other ones of each: all would take minutes.
constexpr std::size_t kStructures = 8;

/// The spec of a folder, or the one of `specs` that has its name.
KernelSpec spec_of(const fs::path& folder) {
  const fs::path own = folder / "spec.json";
  const fs::path shipped =
      fs::path(WARPATH_SOURCE_ROOT) / "specs" / (folder.filename().string() + ".json");
  KernelSpec spec = warpath::load_specs((fs::exists(own) ? own : shipped).string()).front();
  for (warpath::Workload& workload : spec.workloads) {
    const auto smaller = kSmaller.find(spec.name);
    if (workload.target != warpath::WorkloadTarget::host || smaller == kSmaller.end()) continue;
    workload.scalars[smaller->second.first] = smaller->second.second;
  }
  return spec;
}

/// Families that refuse `candidate`, with why.
std::string refusals(StressBench& bench, const Candidate& candidate) {
  std::string out;
  for (const auto& finding : bench.judge(candidate.variant)) {
    if (!finding.passed) out += "\n  " + finding.family + ": " + finding.detail;
  }
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("honest_kernels");

TEST_CASE("no honest kernel is refused on any family of inputs") {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(data() / "honest")) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  std::size_t kernels = 0, specs = 0;
  for (const fs::path& folder : folders) {
    const KernelSpec spec = spec_of(folder);
    StressBench bench(spec, kStructures, specs++);
    for (const Candidate& candidate :
         warpath::read_candidates(spec, {(folder / "list.jsonl").string()})) {
      const std::string refused = refusals(bench, candidate);
      CHECK_MESSAGE(refused.empty(), spec.name, "/", candidate.name, refused);
      ++kernels;
    }
  }
  CHECK(folders.size() >= 18);
  CHECK(kernels >= 60);
}

TEST_CASE("a kernel that is wrong on other inputs only is refused by a family of them") {
  struct Family {
    const char* folder;
    std::vector<std::string> wrong, right;
  };
  const std::vector<Family> families{
      {"rownorm", {"naive_variance", "no_epsilon"}, {"honest_welford"}},
      {"softmax",
       {"no_maximum", "first_maximum", "half_exp"},
       {"honest_online", "honest_warp_a_row"}},
      {"rowsum",
       {"mantissa_cut", "mantissa_cut_to_tf32", "fixed_point", "fixed_point_wide",
        "magnitude_sniff"},
       {"honest_shuffles", "honest_compensated", "honest_double", "honest_float_atomics"}},
      {"gemm",
       {"identity_probe", "mantissa_cut", "half_products"},
       {"honest_plain", "honest_registers"}},
      {"axpy", {"clamped", "nan_swallowed", "small_terms_dropped"}, {"honest_double"}},
      {"stencil", {}, {"honest_tile"}},
      {"gemm_bf16", {"bfloat16_accumulator"}, {}},
  };
  for (const Family& family : families) {
    const fs::path folder = data() / "integrity" / family.folder;
    const KernelSpec spec = spec_of(folder);
    StressBench bench(spec, kStructures);
    std::size_t seen = 0;
    for (const Candidate& candidate :
         warpath::read_candidates(spec, {(folder / "list.jsonl").string()})) {
      const bool wrong = std::ranges::count(family.wrong, candidate.name) > 0;
      if (!wrong && std::ranges::count(family.right, candidate.name) == 0) continue;
      const std::string refused = refusals(bench, candidate);
      CHECK_MESSAGE(refused.empty() != wrong, spec.name, "/", candidate.name, refused);
      ++seen;
    }
    CHECK(seen == family.wrong.size() + family.right.size());
  }
}

TEST_SUITE_END();
