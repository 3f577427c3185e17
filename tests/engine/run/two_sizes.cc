#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/log/event_log.h"
#include "engine/plugin/runner.h"
#include "engine/plugin/versions.h"
#include "moves/propose/example.h"
#include "tests/support/campaign_bench.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using test::CampaignBench;
using test::put_text;
using test::TemporaryFolder;
using test::text_of;

namespace {

/// Row sums of 4096 rows of 2048 floats, by one thread a row.
KernelSpec row_sums() {
  return parse_example(
             "step: launch_bounds\ninput: float32 x[N, C]\noutput: float32 y[N]\n"
             "scalar: int32 N = 4096\nscalar: int32 C = 2048\ngrid: ceil_div(N, 256)\nblock: 256\n"
             "--- before\n"
             "extern \"C\" __global__ void row_sums(const float* __restrict__ x,"
             " float* __restrict__ y, int N, int C) {\n"
             "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             "  if (i >= N) return;\n"
             "  float sum = 0.0f;\n"
             "  for (int c = 0; c < C; ++c) sum += x[i * C + c];\n"
             "  y[i] = sum;\n"
             "}\n",
             "test")
      .spec;
}

void add_workload(KernelSpec& spec, std::int64_t columns, WorkloadRole role) {
  Workload other = spec.workloads.front();
  other.name = "of " + std::to_string(columns);
  other.role = role;
  other.scalars["C"] = columns;
  spec.workloads.push_back(std::move(other));
}

/// Prices the text of the kernel that serves a workload instead of running it: known sizes, wide
/// loads, more threads a row are worth something, launches nothing that does not hold. What costs
/// the same is the same machine code: a search that cannot tell is lost among equals.
class PricingRunner final : public Runner {
 public:
  [[nodiscard]] std::string_view name() const override { return "pricing"; }
  [[nodiscard]] DeviceFacts device() const override { return example_device(); }
  void prepare(const KernelSpec&) override {}
  [[nodiscard]] Outcome run(const RunRequest& request, std::stop_token) override {
    Outcome out;
    out.status = Status::ok;
    out.verdict.gates.push_back({"price", GateResult::Answer::pass, ""});
    for (const Workload* const w : workloads_for(request.spec, device())) {
      const Variant& kernel = version_for(request.spec, request.variant, *w);
      if (w->role == WorkloadRole::regress) continue;
      const double price = price_of(request.spec, kernel, *w);
      out.binary_key += std::to_string(price) + " ";
      out.timings.push_back({.workload = w->name,
                             .samples_ns = {price, price, price},
                             .launch = {},
                             .cache = "priced"});
    }
    return out;
  }

 private:
  static double price_of(const KernelSpec& spec, const Variant& kernel, const Workload& w) {
    const auto has = [&](const char* text) {
      return kernel.source.find(text) != std::string::npos;
    };
    const Bindings values = spec.bindings(w, kernel.tunables);
    const LaunchNumbers launch = evaluate(launch_for(spec, kernel, w), values, "launch");
    const double threads = static_cast<double>(launch.grid[0] * launch.block[0]);
    const double rows = static_cast<double>(values.at("N"));
    double price = static_cast<double>(values.at("C")) * rows;
    price /= std::clamp(threads / rows, 1.0, 32.0);
    if (has("constexpr int C = ")) price *= 0.6;
    if (has("float4")) price *= 0.5;
    if (has("#pragma unroll")) price *= 0.9;
    if (has("__launch_bounds__")) price *= 0.97;
    return price;
  }
};

CampaignBench bench_of(KernelSpec spec, std::int64_t builds = 60) {
  CampaignBench bench(test::small_options(builds), "pricing");
  bench.options.record.keep_variants = true;
  bench.runners.add("pricing", "test",
                    [](const RunnerConfig&) { return std::make_unique<PricingRunner>(); });
  bench.spec = std::move(spec);
  return bench;
}

double speedup_of(KernelSpec spec) {
  TemporaryFolder folder;
  CampaignBench bench = bench_of(std::move(spec));
  return bench.run(folder.path() / "run").speedup;
}

}  // namespace

TEST_SUITE_BEGIN("two_sizes");

TEST_CASE("a second size costs at most a twentieth of the gain of one") {
  const double one = speedup_of(row_sums());
  REQUIRE(one > 20);  // known sizes are part of it
  KernelSpec checked = row_sums(), scored = row_sums();
  add_workload(checked, 77, WorkloadRole::regress);
  add_workload(scored, 8192, WorkloadRole::score);
  CHECK(speedup_of(checked) >= 0.95 * one);
  CHECK(speedup_of(scored) >= 0.95 * one);
}

TEST_CASE("a run whose variants have versions is repeated and resumed to the same graph") {
  KernelSpec spec = row_sums();
  add_workload(spec, 8192, WorkloadRole::score);
  add_workload(spec, 77, WorkloadRole::regress);
  TemporaryFolder folder;
  CampaignBench bench = bench_of(spec, 30);
  const SessionResult whole = bench.run(folder.path() / "whole");
  CHECK(whole.improved);
  const std::string log = text_of(folder.path() / "whole/events.jsonl");
  CHECK(log.find("\"versions\"") != std::string::npos);
  const SessionResult again = bench.run(folder.path() / "again");
  CHECK(again.fingerprint == whole.fingerprint);
  const SessionResult resumed = bench.run(folder.path() / "whole", true);
  CHECK(resumed.fingerprint == whole.fingerprint);
  // Killed half-way: only the log is left.
  std::size_t cut = log.size() / 2;
  while (log[cut - 1] != '\n') ++cut;
  std::filesystem::copy(
      folder.path() / "whole", folder.path() / "half",
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  std::filesystem::remove(folder.path() / "half/search_state.json");
  put_text(folder.path() / "half/events.jsonl", log.substr(0, cut));
  const SessionResult half = bench.run(folder.path() / "half", true);
  CHECK(half.fingerprint == whole.fingerprint);
  CHECK(half.best_key == whole.best_key);
  // The best has its sources beside it.
  const auto best = folder.path() / "half/variants" / half.best_key.hex();
  CHECK(text_of(best / "source_1.cu").find("constexpr int C = 8192;") != std::string::npos);
  CHECK(text_of(best / "source_2.cu").find("constexpr int C") == std::string::npos);
}

TEST_SUITE_END();
