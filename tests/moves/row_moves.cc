#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/error.h"
#include "engine/options.h"
#include "engine/runner.h"
#include "engine/spec_load.h"
#include "moves/register_moves.h"
#include "runners/register_runners.h"
#include "tests/moves/row_kernels.h"

using namespace warpath;
using test::row_kernel;

TEST_SUITE_BEGIN("row_moves");

namespace {

MoveRegistry registry() {
  MoveRegistry out("move");
  register_moves(out);
  return out;
}

DeviceFacts hopper() {
  DeviceFacts out;
  out.is_gpu = true;
  out.arch = "sm_90a";
  out.multiprocessors = 132;
  out.max_smem_per_block_bytes = 227 << 10;
  return out;
}

/// The variant behind a path of moves, separated by semicolons.
std::optional<Variant> climbed(const KernelSpec& spec, const std::string& path, std::string& why, const DeviceFacts& device = hopper()) {
  Variant variant = baseline_variant(spec);
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find("; ", begin), path.size());
    const MoveInstance instance = MoveInstance::parse(path.substr(begin, end - begin), "test");
    auto next = registry().create("test", instance.move)->apply({spec, variant, device}, instance, why);
    if (!next) return std::nullopt;
    variant = *next;
    begin = end + 2;
  }
  return variant;
}

Variant reached(const KernelSpec& spec, const std::string& path) {
  std::string why;
  const auto out = climbed(spec, path, why);
  CAPTURE(path);
  CAPTURE(why);
  REQUIRE(out.has_value());
  return *out;
}

std::string refused(const KernelSpec& spec, const std::string& path) {
  std::string why;
  CHECK_FALSE(climbed(spec, path, why).has_value());
  return why;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Runs variants of one kernel against its own baseline as reference.
class Judge {
 public:
  explicit Judge(KernelSpec spec) : spec_(std::move(spec)) {
    static Options options;
    options.host.threads = 2;
    options.host.timing_seconds = 0.001;
    options.host.min_samples = 1;
    options.host.max_samples = 1;
    options.host.compile_seconds = 30;
    RunnerRegistry runners("runner");
    register_runners(runners);
    RunnerConfig config;
    config.options = &options;
    runner_ = runners.create("test", "host", config);
    runner_->prepare(spec_);
  }
  void passes(const std::string& path) {
    CAPTURE(spec_.name);
    CAPTURE(path);
    const Variant variant = reached(spec_, path);
    CAPTURE(variant.source);
    const Outcome outcome = runner_->run(RunRequest{spec_, variant, variant_key(variant), ++seed_, 0}, {});
    CAPTURE(outcome.log);
    CHECK(outcome.status == Status::ok);
  }

 private:
  KernelSpec spec_;
  std::unique_ptr<Runner> runner_;
  std::uint64_t seed_ = 0;
};

std::string split(int lanes) { return "parallelise_row_loop(cluster=1,lanes=" + std::to_string(lanes) + ")"; }
std::string scan(int lanes, int packs, int vector) {
  return "scan_parallelise(lanes=" + std::to_string(lanes) + ",packs=" + std::to_string(packs) + ",vector=" + std::to_string(vector) + ")";
}

}  // namespace

TEST_CASE("lanes of a warp share loops, reductions are combined, one lane stores") {
  const Variant out = reached(row_kernel("weighted_counts"), split(8));
  CHECK(holds(out.source, "for (int j = lane; j < C; j += LANES)"));
  CHECK(holds(out.source, "if (lane != 0) sum = 0;"));
  CHECK_FALSE(holds(out.source, "if (lane != 0) low"));
  CHECK_FALSE(holds(out.source, "if (lane != 0) positive"));
  CHECK(holds(out.source, "if (lane == 0) o[i * 3] = sum;"));
  CHECK(out.launch.grid[0].text() == "ceil_div(N * 8, 64)");
  CHECK(out.launch.block[0].text() == "64");
}

TEST_CASE("a block takes a row, and combines through one shared array a value") {
  const Variant out = reached(row_kernel("layer_norm"), split(128));
  CHECK(holds(out.source, "int row = blockIdx.x;"));
  CHECK(holds(out.source, "__shared__ float total_warp[4];"));
  CHECK(holds(out.source, "__shared__ float square_warp[4];"));
  CHECK(holds(out.source, "{  // the third pass"));
  CHECK(out.launch.grid[0].text() == "N");
  CHECK(out.launch.block[0].text() == "128");
}

TEST_CASE("a cluster takes a row on a GPU that has clusters") {
  const KernelSpec spec = row_kernel("log_softmax");
  const Variant out = reached(spec, "parallelise_row_loop(cluster=2,lanes=128)");
  CHECK(out.launch.cluster[0].text() == "2");
  CHECK(out.launch.grid[0].text() == "N * 2");
  CHECK(holds(out.source, "mapa.u64"));
  std::string why;
  DeviceFacts host;
  CHECK_FALSE(climbed(spec, "parallelise_row_loop(cluster=2,lanes=128)", why, host).has_value());
}

TEST_CASE("shared rows agree with one thread a row, at any number of lanes") {
  for (const char* name : {"layer_norm", "log_softmax", "softmax_stored", "weighted_counts", "mirrored"}) {
    Judge judge(row_kernel(name));
    for (const int lanes : {4, 32, 128}) judge.passes(split(lanes));
  }
}

TEST_CASE("what is no loop over an item is left alone") {
  CHECK(holds(refused(row_kernel("exclusive_scan"), split(32)), "scan_parallelise"));
  CHECK(holds(refused(row_kernel("block_norm"), split(32)), "work together"));
  CHECK(holds(refused(row_kernel("weighted_counts"), "parallelise_row_loop(cluster=1,lanes=24)"), "power of two"));
}

TEST_CASE("a row stays in registers, in packs where it is aligned, masked where it does not fit") {
  Judge fits(row_kernel("log_softmax"));
  const std::string keep = "; softmax_math_fusion@loop:0(form=0,vector=";
  CHECK(holds(reached(row_kernel("log_softmax"), split(8) + keep + "4)").source, "reinterpret_cast<const float4*>(x + i * 96"));
  fits.passes(split(8) + keep + "4)");
  fits.passes(split(32) + keep + "1)");
  fits.passes(split(64) + keep + "4)");
  Judge masked(row_kernel("softmax_stored"));
  const Variant out = reached(row_kernel("softmax_stored"), split(8) + keep + "2)");
  CHECK(holds(out.source, "if (j < 1 || j >= 70) continue;"));
  CHECK_FALSE(holds(out.source, "o[i * L + j] = e"));
  masked.passes(split(8) + keep + "2)");
  masked.passes(split(32) + keep + "1)");
}

TEST_CASE("a row whose length is unknown stays in shared memory, not in registers") {
  const KernelSpec spec = row_kernel("layer_norm");
  const std::string at = split(64) + "; softmax_math_fusion@loop:0";
  CHECK(holds(refused(spec, at + "(form=0,vector=1)"), "specialise_shape"));
  const Variant out = reached(spec, at + "(form=1,vector=1)");
  CHECK(out.launch.dynamic_smem_bytes.text() == "C * 4");
  Judge(spec).passes(at + "(form=1,vector=1)");
}

TEST_CASE("statistics are taken in one sweep, maxima with their sums, stored values again") {
  Judge norm(row_kernel("layer_norm"));
  norm.passes("softmax_math_fusion@loop:0(form=2,vector=1)");
  norm.passes(split(32) + "; softmax_math_fusion@loop:0(form=2,vector=1)");
  norm.passes(split(64) + "; softmax_math_fusion@loop:0(form=5,vector=1)");
  Judge logits(row_kernel("log_softmax"));
  logits.passes("softmax_math_fusion@loop:0(form=3,vector=1)");
  logits.passes(split(16) + "; softmax_math_fusion@loop:0(form=3,vector=1)");
}

TEST_CASE("scans are shared by lanes: inclusive, exclusive, over blocks and with a tail") {
  Judge exclusive(row_kernel("exclusive_scan"));
  exclusive.passes(scan(8, 2, 1));
  exclusive.passes(scan(32, 1, 1));
  exclusive.passes(scan(64, 2, 1));
  Judge inclusive(row_kernel("running_maximum"));
  inclusive.passes(scan(32, 4, 4));
  inclusive.passes(scan(128, 1, 4));
  inclusive.passes(scan(16, 1, 4));
  CHECK(holds(refused(row_kernel("exclusive_scan"), scan(32, 1, 4)), "packs of 4"));
  CHECK_FALSE(refused(row_kernel("layer_norm"), scan(32, 1, 1)).empty());
}

TEST_CASE("a tree over shared memory becomes shuffles") {
  const KernelSpec spec = row_kernel("block_norm");
  const Variant out = reached(spec, "warp_shuffle_reduce@loop:1");
  CHECK_FALSE(holds(out.source, "s >>= 1"));
  Judge judge(spec);
  judge.passes("warp_shuffle_reduce@loop:1");
  judge.passes("softmax_math_fusion@loop:0(form=0,vector=1)");
  judge.passes("warp_shuffle_reduce@loop:1; softmax_math_fusion@loop:0(form=0,vector=4)");
}

TEST_CASE("a local array moves to shared memory or becomes registers") {
  const KernelSpec spec = row_kernel("buckets");
  CHECK(holds(reached(spec, "local_array_placement@array:bucket(place=1)").source, "bucket[j % 8][threadIdx.x] +="));
  Judge(spec).passes("local_array_placement@array:bucket(place=1)");
  CHECK_FALSE(refused(spec, "local_array_placement@array:bucket(place=0)").empty());
}

TEST_SUITE_END();
