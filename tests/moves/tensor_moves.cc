#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "engine/spec/spec_load.h"
#include "register_moves.h"
#include "tests/support/host_check.h"
#include "tests/support/tensor_emulation.h"

using namespace warpath;

TEST_SUITE_BEGIN("tensor_moves");

namespace {

const std::string kRoot = WARPATH_SOURCE_ROOT;

DeviceFacts hopper() {
  DeviceFacts device;
  device.runner = "cuda", device.name = "H200", device.arch = "sm_90a", device.is_gpu = true;
  device.multiprocessors = 132, device.max_smem_per_block_bytes = 232448;
  return device;
}

/// A spec of this repository with other sizes, and what a move may rely on.
KernelSpec sized(const std::string& name,
                 const std::vector<std::pair<std::string, std::int64_t>>& sizes,
                 const std::vector<std::string>& constraints = {}) {
  KernelSpec spec = load_specs(kRoot + "/specs/" + name + ".json").front();
  for (Workload& workload : spec.workloads) {
    for (const auto& [size, value] : sizes) workload.scalars[size] = value;
  }
  for (const std::string& text : constraints)
    spec.constraints.push_back(Expression::parse(text, "test"));
  return spec;
}

std::optional<Variant> moved(const KernelSpec& spec,
                             const Variant& from,
                             const std::string& text,
                             std::string& why,
                             const DeviceFacts& device = hopper()) {
  const MoveRegistry& registry = registered_moves();
  const MoveInstance instance = MoveInstance::parse(text, "test");
  return registry.create("test", instance.move)->apply({spec, from, device}, instance, why);
}

/// What each move makes of the spec's kernel gives the spec's results, with its instructions
/// emulated.
void check_runs(const KernelSpec& spec, const std::vector<std::string>& moves) {
  const test::HostCheck host(spec);
  for (const std::string& text : moves) {
    CAPTURE(text);
    std::string why;
    auto variant = moved(spec, baseline_variant(spec), text, why);
    CAPTURE(why);
    REQUIRE(variant.has_value());
    variant->source = test::emulated(variant->source);
    host.passes(*variant);
  }
}

const std::vector<std::string> kEights{"M % 8 == 0", "N % 8 == 0", "K % 8 == 0"};

}  // namespace

TEST_CASE(
    "a bf16 product runs on either family of instructions, whole 16-byte copies and masked edges") {
  const KernelSpec spec = sized("gemm_bf16_nt", {{"M", 40}, {"N", 72}, {"K", 136}}, kEights);
  check_runs(spec, {"switch_to_mma_or_wgmma@wgmma(block_m=64,block_n=64,stages=3,band=8)",
                    "switch_to_mma_or_wgmma@mma.sync(block_m=32,block_n=64,warps_m=1,warps_n=2,"
                    "stages=2,band=1)"});
}

TEST_CASE("odd sizes are staged element by element") {
  const KernelSpec spec = sized("gemm_bf16_nt", {{"M", 35}, {"N", 69}, {"K", 71}});
  check_runs(spec, {"switch_to_mma_or_wgmma@wgmma(block_m=64,block_n=64,stages=4,band=2)"});
}

TEST_CASE("int8 sums stay exact and keep their scales") {
  const KernelSpec spec = sized("int8_scaled_mm", {{"M", 48}, {"N", 72}, {"K", 144}},
                                {"M % 16 == 0", "N % 8 == 0", "K % 16 == 0"});
  check_runs(spec, {"switch_to_mma_or_wgmma@wgmma(block_m=64,block_n=64,stages=3,band=8)",
                    "switch_to_mma_or_wgmma@mma.sync(block_m=64,block_n=64,warps_m=1,warps_n=1,"
                    "stages=3,band=8)"});
}

TEST_CASE("tiles of ragged groups hold rows of one group") {
  const KernelSpec spec =
      sized("grouped_gemm_bf16", {{"G", 5}, {"ROWS", 115}, {"K", 72}, {"N", 72}},
            {"K % 8 == 0", "N % 8 == 0"});
  check_runs(spec, {"switch_to_mma_or_wgmma@wgmma(block_m=64,block_n=64,stages=3,band=8)",
                    "switch_to_mma_or_wgmma@mma.sync(block_m=32,block_n=64,warps_m=1,warps_n=1,"
                    "stages=3,band=8)"});
}

TEST_CASE("what tensor cores would round is left alone") {
  std::string why;
  const KernelSpec spec = load_specs(kRoot + "/specs/sgemm_tn_batched.json").front();
  CHECK_FALSE(moved(spec, baseline_variant(spec),
                    "switch_to_mma_or_wgmma@wgmma(block_m=64,block_n=64,stages=3,band=8)", why)
                  .has_value());
  CHECK(why == "no tensor core instruction keeps the precision of float");
  const KernelSpec rows = load_specs(kRoot + "/specs/softmax_scaled.json").front();
  CHECK_FALSE(moved(rows, baseline_variant(rows),
                    "switch_to_mma_or_wgmma@wgmma(block_m=64,block_n=64,stages=3,band=8)", why)
                  .has_value());
}

TEST_CASE("a device without the instructions or the room is refused by name") {
  const KernelSpec spec = load_specs(kRoot + "/specs/gemm_bf16_nt.json").front();
  const std::string wide = "switch_to_mma_or_wgmma@wgmma(block_m=128,block_n=256,stages=5,band=8)";
  std::string why;
  CHECK_FALSE(moved(spec, baseline_variant(spec), wide, why).has_value());
  CHECK(why == "the ring takes 245760 bytes of shared memory");
  DeviceFacts older = hopper();
  older.arch = "sm_80";
  CHECK_FALSE(moved(spec, baseline_variant(spec),
                    "switch_to_mma_or_wgmma@wgmma(block_m=128,block_n=256,stages=4,band=8)", why,
                    older)
                  .has_value());
  CHECK(why == "wgmma needs sm_90a");
  CHECK_FALSE(moved(spec, baseline_variant(spec), wide, why, DeviceFacts{}).has_value());
  CHECK(why == "no GPU");
}

TEST_CASE("attention streams its keys through shared memory") {
  const auto fixed = [](KernelSpec spec) {
    const std::size_t at = spec.source.find("int T, int D) {\n");
    REQUIRE(at != std::string::npos);
    spec.source.replace(at, 16, "int T, int) {\n  constexpr int D = 32;\n");
    return spec;
  };
  const KernelSpec spec = fixed(sized("attention_causal", {{"H", 3}, {"T", 83}, {"D", 32}}));
  check_runs(spec, {"stream_attention(queries=32,keys=16,threads=64,lanes=8,blocks=1,async=0)",
                    "stream_attention(queries=64,keys=32,threads=128,lanes=4,blocks=2,async=1)"});
  // One pass, the largest score kept up to date; keys behind the query are left by a break.
  KernelSpec online = spec;
  online.source = R"(
extern "C" __global__ void attention_causal(float* o, const float* q, const float* k, const float* v, int H, int T, int) {
  constexpr int D = 32;
  int head = blockIdx.y, row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < T) {
    const float* mine = q + (head * T + row) * D;
    float acc[D] = {}, top = -1e30f, sum = 0.0f;
    for (int j = 0; j < T; ++j) {
      if (j > row) break;
      float s = 0.0f;
      for (int c = 0; c < D; ++c) s = fmaf(mine[c], k[(head * T + j) * D + c], s);
      s *= rsqrtf(D);
      const float next = fmaxf(top, s), keep = expf(top - next), w = expf(s - next);
      sum = sum * keep + w;
      for (int c = 0; c < D; ++c) acc[c] = acc[c] * keep + w * v[(head * T + j) * D + c];
      top = next;
    }
    const float share = 1.0f / sum;
    for (int c = 0; c < D; ++c) o[(head * T + row) * D + c] = acc[c] * share;
  }
}
)";
  check_runs(online, {"stream_attention(queries=32,keys=16,threads=64,lanes=8,blocks=1,async=0)"});
  std::string why;
  KernelSpec open = sized("attention_causal", {});
  open.workloads.push_back(open.workloads.front());
  open.workloads.back().scalars["D"] = std::int64_t{32};
  const auto both =
      moved(open, baseline_variant(open),
            "stream_attention(queries=64,keys=32,threads=128,lanes=8,blocks=1,async=0)", why);
  REQUIRE(both.has_value());
  const auto kernels = kernels_of(*both);
  CHECK(kernels.size() == 3);  // a version a length, and the kernel as it was
  CHECK(kernels.front()->source != kernels[1]->source);
  CHECK(kernels.back()->source == open.source);
}

namespace {

/// Tiles of 16 x 16 in shared memory, as a textbook does it.
constexpr std::string_view kTextbook = R"(
#define TILE 16
extern "C" __global__ void sgemm_tn_batched(int M, int N, int K, const float* A, const float* B, float* C) {
  __shared__ float a_tile[TILE][TILE];
  __shared__ float b_tile[TILE][TILE];
  int x = threadIdx.x, y = threadIdx.y, b = blockIdx.z;
  int m = blockIdx.y * TILE + y, n = blockIdx.x * TILE + x;
  float sum = 0.0f;
  // One tile of both operands a step.
  for (int k0 = 0; k0 < K; k0 += TILE) {
    int first = blockIdx.y * TILE + x;
    a_tile[y][x] = k0 + y < K && first < M ? A[(b * K + k0 + y) * M + first] : 0.0f;
    b_tile[y][x] = k0 + y < K && n < N ? B[(b * K + k0 + y) * N + n] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; k++) {
      sum += a_tile[k][y] * b_tile[k][x];
    }
    __syncthreads();
  }
  if (m < M && n < N) C[(b * M + m) * N + n] = sum;
}
)";

}  // namespace

TEST_CASE("copies to tiles run ahead of their use") {
  KernelSpec spec = sized("sgemm_tn_batched", {{"M", 35}, {"N", 41}, {"K", 57}, {"BATCH", 2}});
  spec.source = kTextbook;
  spec.tunables.clear(), spec.constraints.clear();
  spec.io.launch.grid = {Expression::parse("ceil_div(N, 16)", "test"),
                         Expression::parse("ceil_div(M, 16)", "test"),
                         Expression::parse("BATCH", "test")};
  spec.io.launch.block = {Expression(16), Expression(16), Expression(1)};
  std::string why;
  const auto variant =
      moved(spec, baseline_variant(spec), "enable_async_pipeline@loop:0(stages=3)", why);
  CAPTURE(why);
  REQUIRE(variant.has_value());
  CAPTURE(variant->source);
  CHECK(variant->source.find("__shared__ float a_tile[3][TILE][TILE];") != std::string::npos);
  CHECK(variant->source.find("// One tile of both operands a step.") != std::string::npos);
  check_runs(spec,
             {"enable_async_pipeline@loop:0(stages=2)", "enable_async_pipeline@loop:0(stages=5)"});
}

TEST_SUITE_END();
