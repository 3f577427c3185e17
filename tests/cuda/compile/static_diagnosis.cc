#include "runners/cuda/compile/static_diagnosis.h"

#include <doctest/doctest.h>

#include <string>

#include "priors/evidence/roofline.h"
#include "priors/evidence/rule_table.h"
#include "runners/cuda/compile/binary_key.h"
#include "runners/cuda/counters/metrics.h"
#include "runners/cuda/counters/ncu_report.h"
#include "runners/cuda/measure/peaks.h"
#include "tests/cuda/driver/device_limits.h"
#include "tests/cuda/support.h"

using warpath::Diagnosis;
using warpath::DiagnosisView;
using warpath::FactSource;
using warpath::Hash128;
using warpath::LaunchNumbers;
using warpath::Status;
using warpath::cuda::binary_key;
using warpath::cuda::BinaryUse;
using warpath::cuda::DeviceLimits;
using warpath::cuda::Peaks;

namespace {

constexpr const DeviceLimits& kH200 = cuda_test::kSm90;

Diagnosis diagnose(const std::string& body, const LaunchNumbers& launch) {
  const auto code = cuda_test::compile(
      "extern \"C\" __global__ void k(float* o, const float4* __restrict__ x, int n) {" + body +
      "}");
  REQUIRE_MESSAGE(code.status == Status::ok, code.log);
  std::string why;
  const auto ptx = warpath::cuda::parse_ptx(code.ptx, why);
  REQUIRE(ptx);
  return static_diagnosis(code, *ptx, launch, kH200);
}

}  // namespace

TEST_SUITE_BEGIN("nvrtc_diagnosis");

TEST_CASE("a kernel's static facts say what it takes and how it fills the device") {
  const LaunchNumbers launch{
      .grid = {132 * 8 * 3 / 2, 1, 1}, .block = {64, 4, 1}, .dynamic_smem_bytes = 512};
  const Diagnosis diagnosis = diagnose(
      "__shared__ float s[256]; float4 v = x[threadIdx.x]; s[threadIdx.x] = v.x * v.y; "
      "__syncthreads(); "
      "o[threadIdx.x] = s[n] + __expf(v.z);",
      launch);
  const auto value = [&](const std::string& name) {
    CAPTURE(name);
    REQUIRE(diagnosis.facts.contains(name));
    CHECK(diagnosis.facts.at(name).source == FactSource::static_analysis);
    return diagnosis.facts.at(name).value;
  };
  CHECK(value("registers_per_thread") > 4);
  CHECK(value("registers_per_thread") <= 32);
  CHECK(value("static_smem_bytes") == 1024);
  CHECK(value("dynamic_smem_bytes") == 512);
  CHECK(value("barriers") == 1);
  CHECK(value("spill_store_bytes") == 0);
  CHECK(value("local_bytes") == 0);
  CHECK(value("code_bytes") > 0);
  CHECK(value("ptx_vector_loads") == 1);
  CHECK(value("ptx_global_load_bytes") == 16);
  CHECK(value("ptx_global_store_bytes") == 4);
  CHECK(value("ptx_load_shared") == 1);
  CHECK(value("ptx_sfu") == 1);
  CHECK_FALSE(diagnosis.facts.contains("ptx_tensor"));
  CHECK(value("threads_per_block") == 256);
  CHECK(value("blocks") == 132 * 12);
  CHECK(value("blocks_per_sm") == 8);
  CHECK(value("occupancy") == doctest::Approx(1));
  CHECK(value("waves") == doctest::Approx(1.5));
  CHECK(value("tail_fraction") == doctest::Approx(0.5));
  CHECK(value("occupancy_limit_threads") == 1);
}

TEST_CASE("local memory and what limits the occupancy show") {
  const Diagnosis local = diagnose(
      "float a[64]; for (int i = 0; i < 64; ++i) a[i * n & 63] = x[i].x; o[0] = a[n & 63] + a[n * "
      "3 & 63];",
      {.grid = {1, 1, 1}, .block = {32, 1, 1}});
  CHECK(local.facts.at("local_bytes").value >= 256);
  const Diagnosis large =
      diagnose("o[n] = 1;", {.grid = {1, 1, 1}, .block = {32, 1, 1}, .dynamic_smem_bytes = 100000});
  CHECK(large.facts.contains("occupancy_limit_smem"));
  CHECK(large.facts.at("blocks_per_sm").value == 2);
}

TEST_CASE("every fact and bound that rules, methods and gaps look up has a producer") {
  // Kernels and launches which together show what the static analysis can give.
  DiagnosisView::Asked produced{"compulsory_bytes"};
  const auto take = [&](const Diagnosis& diagnosis) {
    for (const auto& [name, fact] : diagnosis.facts) produced.insert(name);
  };
  const std::string tile =
      "__shared__ float s[256]; s[threadIdx.x] = x[threadIdx.x].x; __syncthreads(); float a = 0; "
      "for (int i = 0; i < n; ++i) a += x[i].y; atomicAdd(o, a + s[threadIdx.x ^ 1]); ";
  const LaunchNumbers launch{.grid = {1000, 1, 1}, .block = {256, 1, 1}};
  take(diagnose(tile, launch));
  take(diagnose(
      "double d = o[1]; o[0] = (float)(d * d + 0.1); asm volatile(\"{.reg .b32 r; .reg .f32 f; "
      "mov.b32 r, 0; mov.f32 f, 0f00000000; "
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {f,f,f,f}, {r,r}, {r}, {f,f,f,f};}\");",
      launch));
  take(diagnose(tile, {.grid = {1000, 1, 1}, .block = {32, 1, 1}}));
  take(diagnose(tile, {.grid = {1000, 1, 1}, .block = {256, 1, 1}, .dynamic_smem_bytes = 100000}));
  std::string many =
      "float4 a[24]; for (int i = 0; i < 24; ++i) a[i] = x[i * 256 + threadIdx.x]; "
      "__syncthreads(); ";
  take(diagnose(many + "for (int i = 0; i < 24; ++i) o[i * 256 + threadIdx.x] = a[i].x + a[i].y * "
                       "a[23 - i].z + a[(i + 7) % 24].w;",
                launch));
  for (const auto& metric : warpath::cuda::metrics()) produced.emplace(metric.name);
  for (const std::string_view name : warpath::cuda::ncu_report_facts()) produced.emplace(name);
  Peaks peaks;
  peaks.copy_bytes_per_s = peaks.l2_bytes_per_s = 1;
  std::map<std::string, double> work;
  for (const char* type :
       {"float64", "float32", "float16", "bfloat16", "tf32", "int8", "int32", "sfu"}) {
    peaks.operations[type] = {.per_s = 1, .method = "", .is_limit = true};
    work[type] = 1;
  }
  for (const auto& [resource, time_ns] : peaks.bounds_ns(1, work, false))
    produced.insert("bound " + resource);

  const Diagnosis nothing;
  DiagnosisView::Asked asked;
  const DiagnosisView view(nothing, 0, &asked);
  static_cast<void>(warpath::RuleTable::built_in().evaluate(view));
  static_cast<void>(warpath::roofline_gaps(view));
  for (const auto& method : warpath::MethodRegistry::built_in().methods())
    static_cast<void>(method.trigger_strength(view));
  CHECK(asked.size() > 40);
  for (const std::string& name : asked) CHECK_MESSAGE(produced.contains(name), name);
}

TEST_CASE("variants have one binary key if code and launch numbers of every workload are equal") {
  const BinaryUse a{.code_hash = Hash128{1, 2},
                    .launch = {.grid = {8, 1, 1}, .block = {256, 1, 1}}};
  BinaryUse other_code = a, other_grid = a, other_block = a, other_cluster = a, other_smem = a;
  other_code.code_hash.low = 3;
  other_grid.launch.grid = {1, 8, 1};
  other_block.launch.block = {128, 2, 1};
  other_cluster.launch.cluster = {2, 1, 1};
  other_smem.launch.dynamic_smem_bytes = 4;
  const auto key = [](std::vector<BinaryUse> uses) { return binary_key(uses); };
  CHECK(key({a}).size() == 32);
  CHECK(key({a, other_grid}) == key({a, other_grid}));
  CHECK(key({a, other_grid}) != key({other_grid, a}));
  CHECK(key({a}) != key({a, a}));
  for (const BinaryUse& other : {other_code, other_grid, other_block, other_cluster, other_smem})
    CHECK(key({other}) != key({a}));
}

TEST_SUITE_END();
