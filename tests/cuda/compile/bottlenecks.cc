#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>

#include "engine/spec/spec_check_files.h"
#include "engine/spec/spec_load.h"
#include "engine/spec/variant.h"
#include "priors/evidence/rule_table.h"
#include "runners/cuda/compile/build.h"
#include "runners/cuda/compile/static_diagnosis.h"
#include "runners/cuda/plan/gate_table.h"
#include "tests/cuda/driver/device_limits.h"
#include "tests/cuda/support.h"
#include "tests/support/figure.h"

using namespace warpath;
using warpath::cuda::CompileResult;
using warpath::cuda::DeviceLimits;
using warpath::cuda::PtxModule;

namespace {

const char* const kArch = "sm_90a";
constexpr const DeviceLimits& kH200 = cuda_test::kSm90;

const std::vector<KernelSpec>& specs() {
  static const std::vector<KernelSpec> kSpecs =
      load_specs(WARPATH_SOURCE_ROOT "/tests/data/bottlenecks");
  return kSpecs;
}

CompileResult compiled(const KernelSpec& spec, const Variant& variant) {
  return cuda::compile(cuda_test::nvrtc(), cuda_test::headers(),
                       cuda::request_for(spec, variant, spec.workloads.front(), kArch), {});
}

/// Static facts of a spec's kernel on an H200, as a runner makes them; compiled once.
const Diagnosis& diagnosis_of(const KernelSpec& spec) {
  static std::map<std::string, std::unique_ptr<Diagnosis>> known;
  auto& entry = known[spec.name];
  if (entry != nullptr) return *entry;
  const Variant variant = baseline_variant(spec);
  const Workload& workload = spec.workloads.front();
  const CompileResult code = compiled(spec, variant);
  REQUIRE_MESSAGE(code.status == Status::ok, code.log);
  std::string why;
  const auto ptx = cuda::parse_ptx(code.ptx, why);
  REQUIRE_MESSAGE(ptx, why);
  const cuda::GateTable gates;
  for (const cuda::GateInfo& row : gates.rows()) {
    const cuda::CodeGate* const gate = gates.code_gate(row.name);
    if (gate == nullptr) continue;
    CAPTURE(row.name);
    const GateResult result =
        gate->judge({.spec = &spec, .source = &variant.source, .code = &code, .ptx = &*ptx});
    CHECK_MESSAGE(result.answer == GateResult::Answer::pass, result.detail);
  }
  const Bindings bindings = spec.bindings(workload, variant.tunables);
  const cuda::PtxLaunch launch = cuda::ptx_launch(spec, variant, workload);
  entry = std::make_unique<Diagnosis>(cuda::static_diagnosis(
      code, *ptx, evaluate(variant.launch, bindings, spec.name), kH200, launch.parameters));
  REQUIRE(spec.bound.bytes);
  entry->facts["compulsory_bytes"] = {
      static_cast<double>(spec.bound.bytes->evaluate(bindings, spec.name)),
      FactSource::static_analysis};
  return *entry;
}

double fact(const KernelSpec& spec, const std::string& name) {
  CAPTURE(name);
  const auto found = DiagnosisView(diagnosis_of(spec), 0).get(name);
  REQUIRE(found);
  return found->value;
}

/// Facts within [low, high) that a kernel was made to have.
struct BuiltKernel {
  const char* rule;
  const char* fact;
  double low, high;
};

}  // namespace

TEST_SUITE_BEGIN("nvrtc_bottlenecks");

TEST_CASE(
    "every rule of the matrix has a kernel of its name, which can be run, and its reference "
    "compiles") {
  std::set<std::string> rules, names;
  for (const Rule& rule : RuleTable::built_in().rules()) {
    if (rule.set == "matrix") rules.insert(rule.id);
  }
  for (const KernelSpec& spec : specs()) {
    CAPTURE(spec.name);
    names.insert(spec.name);
    CHECK(run_problem(spec) == "");
    const auto reference = cuda::reference_variant(spec);
    REQUIRE(reference);
    const auto& named = std::get<ReferenceKernel>(spec.reference);
    const CompileResult code = cuda::compile(
        cuda_test::nvrtc(), cuda_test::headers(),
        {.source = reference->source, .kernel = named.kernel_name, .arch = kArch, .options = {}},
        {});
    CHECK_MESSAGE(code.status == Status::ok, code.log);
  }
  CHECK(names == rules);
  testing::report_figure("bottleneck_kernels", names.size());
}

TEST_CASE("they compile, pass the static gates, do not spill and fit the device") {
  for (const KernelSpec& spec : specs()) {
    CAPTURE(spec.name);
    CHECK(fact(spec, "local_traffic") == 0);
    CHECK(fact(spec, "blocks_per_sm") >= 1);
    // inputs, outputs and what the harness keeps of them fit beside each other
    CHECK(fact(spec, "compulsory_bytes") < 6e9);
  }
}

TEST_CASE(
    "what is known without running a kernel is as it was made, and waves disturb no other kernel") {
  const std::map<std::string, const KernelSpec*> by_name = [] {
    std::map<std::string, const KernelSpec*> out;
    for (const KernelSpec& spec : specs()) out.emplace(spec.name, &spec);
    return out;
  }();
  for (const BuiltKernel& made :
       {BuiltKernel{"low_waves_per_sm", "waves", 0, 0.5},
        BuiltKernel{"high_waves_per_sm", "waves", 160, 1e9},
        BuiltKernel{"high_waves_per_sm", "occupancy", 0.99, 1.01},
        BuiltKernel{"low_occupancy", "occupancy_now", 0, 0.13},
        BuiltKernel{"low_occupancy", "register_limited", 0, 0.5},
        BuiltKernel{"register_limited", "register_limited", 1, 1.5},
        BuiltKernel{"register_limited", "occupancy_now", 0, 0.26},
        BuiltKernel{"stall_wait", "register_limited", 0, 0.5},
        BuiltKernel{"stall_wait", "occupancy_now", 0, 0.13},
        BuiltKernel{"stall_short_scoreboard", "occupancy_now", 0.49, 0.51},
        BuiltKernel{"poor_coalescing", "static_sector_excess", 7.9, 8.1},
        BuiltKernel{"smem_bank_conflicts", "static_bank_ways", 16, 33},
        BuiltKernel{"low_l2_hit", "global_reuse", 4, 1e9},
        BuiltKernel{"low_l1_hit", "global_reuse", 4, 1e9},
        BuiltKernel{"stall_long_scoreboard", "global_reuse", 0, 1.5},
        BuiltKernel{"severe_memory_bound", "global_reuse", 0, 1.5},
        BuiltKernel{"poor_coalescing", "global_reuse", 0, 1.5}}) {
    CAPTURE(made.rule);
    CAPTURE(made.fact);
    REQUIRE(by_name.contains(made.rule));
    const double value = fact(*by_name.at(made.rule), made.fact);
    CHECK(value >= made.low);
    CHECK(value < made.high);
  }
  for (const KernelSpec& spec : specs()) {
    CAPTURE(spec.name);
    if (spec.name != "low_waves_per_sm") CHECK(fact(spec, "waves") >= 2);
  }
}

TEST_SUITE_END();
