#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "runners/inputs/input_choices.h"
#include "runners/inputs/packed_parameters.h"
#include "tests/runners/host_candidates.h"

using namespace warpath;
using namespace warpath::test;

namespace {

constexpr const char* kStruct = "struct P { const float* x; float scale; float* y; int n; };\n";

/// y = scale * x, all of it in one struct.
KernelSpec scaling() {
  KernelSpec spec = doubling();
  ArgSpec scale;
  scale.name = "scale";
  scale.type = ArgType::floating;
  scale.role = ArgRole::scalar;
  scale.dtype = DType::f32;
  scale.value = 3.0;
  spec.io.args.insert(spec.io.args.begin() + 1, scale);
  for (ArgSpec& arg : spec.io.args) arg.member_of = "p";
  const std::string text = std::string(kStruct) +
                           "extern \"C\" __global__ void k(P p) { int i = blockIdx.x * blockDim.x "
                           "+ threadIdx.x; if (i < "
                           "p.n) p.y[i] = p.scale * p.x[i]; }";
  spec.source = text;
  spec.reference = ReferenceKernel{
      .source = text, .source_file = "", .kernel_name = "k", .launch = spec.io.launch};
  return spec;
}

std::string with_struct(const std::string& members, const std::string& statement) {
  return "struct P { " + members +
         " };\nextern \"C\" __global__ void k(P p) { int i = blockIdx.x * blockDim.x + "
         "threadIdx.x; if (i < p.n) " +
         statement + " }";
}

Tensor values(const KernelSpec& spec, float factor) {
  const std::vector<std::int64_t> shape = spec.shape_of(spec.io.args[0], spec.workloads.front());
  Tensor out{DType::f32, shape, std::vector<std::byte>(static_cast<std::size_t>(4 * shape[0]))};
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    const float value = factor * static_cast<float>(i + 1);
    std::memcpy(out.bytes.data() + 4 * i, &value, 4);
  }
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("caller_contract");

TEST_CASE("a struct is passed by value, with padding, to kernel and reference") {
  Candidates candidates(scaling());
  const Outcome outcome = candidates.run(baseline_variant(candidates.spec()));
  INFO(outcome.log);
  CHECK(outcome.status == Status::ok);
  CHECK(
      candidates
          .run(with_struct("const float* x; float scale; float* y; int n;", "p.y[i] = 2 * p.x[i];"))
          .status == Status::wrong_result);
}

TEST_CASE("a struct of another size is refused with both sizes") {
  Candidates candidates(scaling());
  const Outcome outcome = candidates.run(with_struct(
      "const float* x; float scale; float* y; int n; double more;", "p.y[i] = p.scale * p.x[i];"));
  CHECK(failed_gate(outcome) == "launch_contract");
  CHECK(outcome.log.find("parameter 1 has 40 bytes, the spec's struct p has 32") !=
        std::string::npos);
}

TEST_CASE("members lie where a compiler puts them, between them zeros, and the rest follows") {
  const std::vector<ParameterLayout> layouts = parameter_layouts(scaling());
  REQUIRE(layouts.size() == 1);
  struct P {
    const float* x;
    float scale;
    float* y;
    int n;
  };
  float place = 0;
  P expected{};
  std::memset(static_cast<void*>(&expected), 0, sizeof expected);
  expected.x = &place, expected.scale = 3, expected.y = &place + 1, expected.n = 7;
  void* const scratch = &place;
  const void* scratch_address = &scratch;
  void* arguments[] = {&expected.x, &expected.scale, &expected.y, &expected.n,
                       const_cast<void*>(scratch_address)};
  PackedParameters packed(layouts, arguments);
  REQUIRE(packed.pointers().size() == 2);
  CHECK(std::memcmp(packed.pointers()[0], &expected, sizeof expected) == 0);
  CHECK(packed.pointers()[1] == scratch_address);
}

TEST_CASE("given outputs judge a kernel on the spec's own inputs, and the verdict says so") {
  KernelSpec spec = doubling();
  spec.io.args[0].tensor->content = EmbeddedData{values(spec, 1)};
  ReferenceOutputs outputs;
  for (const Workload& workload : spec.workloads)
    outputs.of_workload[workload.name]["y"] = EmbeddedData{values(spec, 2)};
  spec.reference = outputs;
  CHECK_FALSE(no_other_inputs(spec).empty());
  CHECK(structure_choices(spec, spec.workloads.front()).empty());
  CHECK(stress_choices(spec, spec.workloads.front()).empty());
  Candidates candidates(spec);
  const Outcome outcome = candidates.run(baseline_variant(spec));
  INFO(outcome.log);
  REQUIRE(outcome.status == Status::ok);
  std::size_t unasked = 0;
  for (const GateResult& gate : outcome.verdict.gates) {
    if (gate.answer != GateResult::Answer::not_run) continue;
    ++unasked;
    CHECK(gate.detail == "the expected outputs are given, for the spec's own inputs alone");
  }
  CHECK(unasked == 2);
  CHECK(candidates.run(body("if (i < n) y[i] = 3 * x[i];")).status == Status::wrong_result);
}

TEST_SUITE_END();
