#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/spec/spec_load.h"
#include "engine/spec/variant.h"
#include "runners/cuda/compile/compile_service.h"
#include "runners/cuda/plan/gate_table.h"
#include "tests/cuda/support.h"
#include "tests/support/figure.h"

using namespace warpath;
using warpath::cuda::CompileResult;
using warpath::cuda::GateSubject;
using warpath::cuda::PtxModule;

namespace {

const char* const kArch = "sm_90a";

/// Code and its PTX in pieces; the views of `ptx` point into `code`.
struct Compiled {
  CompileResult code;
  std::optional<PtxModule> ptx;
};

/// Compiles in this process, equal requests once.
const Compiled& compiled(const cuda::CompileRequest& request) {
  static std::map<std::string, std::unique_ptr<Compiled>> known;
  auto& entry = known[cuda::code_key(request, "").hex()];
  if (entry == nullptr) {
    entry = std::make_unique<Compiled>();
    entry->code = cuda::compile(cuda_test::nvrtc(), cuda_test::headers(), request, {});
    std::string why;
    entry->ptx = cuda::parse_ptx(entry->code.ptx, why);
  }
  return *entry;
}

/// The baseline, and every tunable at its lowest and highest value that the constraints allow.
std::vector<Variant> variants_of(const KernelSpec& spec) {
  std::vector<Variant> variants{baseline_variant(spec)};
  std::string why;
  for (const Tunable& tunable : spec.tunables) {
    std::vector<std::int64_t> allowed;
    for (const std::int64_t value : tunable.values) {
      Variant variant = baseline_variant(spec);
      variant.tunables[tunable.name] = value;
      if (satisfies_constraints(spec, variant, why)) allowed.push_back(value);
    }
    if (allowed.empty()) continue;
    for (const std::int64_t value : {allowed.front(), allowed.back()}) {
      variants.push_back(baseline_variant(spec));
      variants.back().tunables[tunable.name] = value;
    }
  }
  return variants;
}

/// The first gate that does not pass, with its reason; empty if all pass.
std::string refusal(const GateSubject& subject) {
  static const cuda::GateTable gates;
  for (const cuda::GateInfo& row : gates.rows()) {
    const cuda::CodeGate* const gate = gates.code_gate(row.name);
    if (gate == nullptr) continue;
    const GateResult result = gate->judge(subject);
    if (result.answer != GateResult::Answer::pass) return result.gate + ": " + result.detail;
  }
  return "";
}

}  // namespace

TEST_SUITE_BEGIN("nvrtc_specs");

TEST_CASE(
    "no static gate refuses a development kernel, with its tunables at any end, with or without "
    "its baseline beside it") {
  int judged = 0, refused = 0;
  for (const KernelSpec& spec : load_specs(WARPATH_SOURCE_ROOT "/specs")) {
    CAPTURE(spec.name);
    for (const Variant& variant : variants_of(spec)) {
      for (const Workload& workload : spec.workloads) {
        const Compiled& baseline =
            compiled(cuda::request_for(spec, baseline_variant(spec), workload, kArch));
        const Compiled& candidate = compiled(cuda::request_for(spec, variant, workload, kArch));
        REQUIRE_MESSAGE(candidate.code.status == Status::ok, candidate.code.log);
        REQUIRE(candidate.ptx);
        GateSubject subject{.spec = &spec,
                            .source = &variant.source,
                            .code = &candidate.code,
                            .ptx = &*candidate.ptx};
        const std::string alone = refusal(subject);
        subject.baseline_ptx = &*baseline.ptx;
        const std::string beside = refusal(subject);
        CHECK(alone == "");
        CHECK(beside == "");
        ++judged;
        refused += alone.empty() && beside.empty() ? 0 : 1;
      }
    }
  }
  CHECK(judged >= 60);
  testing::report_figure("static_gate_variants", static_cast<std::size_t>(judged));
  testing::report_figure("static_gate_false_rejects", static_cast<std::size_t>(refused));
}

TEST_CASE("dynamic shared memory passes the static gates") {
  const KernelSpec spec = load_specs(WARPATH_SOURCE_ROOT "/specs/softmax_scaled.json").front();
  Variant variant = baseline_variant(spec);
  variant.source =
      "extern \"C\" __global__ void softmax_scaled(float* __restrict__ o, const float* "
      "__restrict__ x, float s, int N, int C) {\n"
      "  extern __shared__ float part[];\n"
      "  part[threadIdx.x] = x[threadIdx.x] * s;\n"
      "  __syncthreads();\n"
      "  o[threadIdx.x] = part[(threadIdx.x + 1) % blockDim.x] + N + C;\n"
      "}\n";
  const Compiled& candidate =
      compiled(cuda::request_for(spec, variant, spec.workloads.front(), kArch));
  REQUIRE_MESSAGE(candidate.code.status == Status::ok, candidate.code.log);
  CHECK(refusal({.spec = &spec,
                 .source = &variant.source,
                 .code = &candidate.code,
                 .ptx = &*candidate.ptx}) == "");
  CHECK(candidate.code.usage.static_smem_bytes == 0);
}

TEST_SUITE_END();
