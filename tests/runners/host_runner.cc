#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "engine/base/error.h"
#include "runners/host/options.h"
#include "tests/runners/host_candidates.h"

using namespace warpath;
using namespace warpath::test;

TEST_SUITE_BEGIN("host_runner");

TEST_CASE("a right kernel passes every gate and has samples") {
  Candidates candidates(doubling());
  const Outcome outcome = candidates.run(baseline_variant(candidates.spec()));
  INFO(outcome.log);
  REQUIRE(outcome.status == Status::ok);
  CHECK(outcome.verdict.passed());
  std::vector<std::string> names;
  for (const auto& gate : outcome.verdict.gates) {
    CHECK(gate.answer == GateResult::Answer::pass);
    names.push_back(gate.gate);
  }
  CHECK(names == std::vector<std::string>{"source", "compile", "imports", "launch_contract",
                                          "launch", "guard_zones", "inputs_unchanged",
                                          "module_state", "outputs_written", "reference",
                                          "schedules_agree", "outputs_overwritten",
                                          "structured_inputs", "aliased_launches", "interleavings",
                                          "store_order", "timed_launch", "paired_times"});
  REQUIRE(outcome.timings.size() == 1);
  CHECK(outcome.timings[0].workload == "host");
  CHECK(outcome.timings[0].cache == "cpu");
  CHECK(outcome.timings[0].samples_ns.size() >= 5);
  CHECK(*std::min_element(outcome.timings[0].samples_ns.begin(),
                          outcome.timings[0].samples_ns.end()) > 0);
  CHECK(outcome.timings[0].launch.block[0] == 64);
  CHECK(outcome.binary_key.size() == 32);
}

TEST_CASE("tensors may have any element type") {
  for (const DType dtype : {DType::f64, DType::i64, DType::i8, DType::u16, DType::boolean}) {
    CAPTURE(info(dtype).name);
    CHECK(Candidates(doubling(dtype)).sound());
  }
}

TEST_CASE(
    "tensors are aligned to no more than the spec says, and to 16 bytes where they are timed") {
  const auto aligned_to = [](int bytes) {
    KernelSpec spec = doubling();
    for (auto& arg : spec.io.args) {
      if (arg.tensor) arg.tensor->alignment_bytes = bytes;
    }
    return spec;
  };
  const auto right_unless = [](const std::string& condition) {
    return body(
        "const unsigned long long at = (unsigned long long)y; "
        "if (i < n) y[i] = " +
        condition + " ? 0.0f : 2 * x[i];");
  };
  Candidates candidates(aligned_to(4));
  CHECK(failed_gate(candidates.run(right_unless("at % 8 == 4"))) == "reference");
  CHECK(failed_gate(candidates.run(right_unless("at % 32 == 16"))) == "timed_launch");
  CHECK(candidates.run(right_unless("at % 4 != 0")).status == Status::ok);
  CHECK(Candidates(aligned_to(1)).run(right_unless("at % 4 != 0")).status == Status::ok);
}

TEST_CASE("a read beside a tensor is found within the bytes that its alignment leaves there") {
  KernelSpec spec = doubling();
  spec.workloads.front().scalars["n"] = std::int64_t{61};  // 12 bytes to the next multiple of 16
  Candidates candidates(spec);
  const auto reads = [&](const std::string& place) {
    Variant variant = baseline_variant(spec);
    variant.source = body("if (i < n) { const float other = x[" + place +
                          "]; y[i] = other == 12345.0f ? 0.0f : 2 * x[i]; }");
    return candidates.run(
        {.spec = spec, .variant = variant, .key = {}, .seed = 1, .stage = Stage::confirmation});
  };
  const Outcome behind = reads("i + 2");
  CHECK(failed_gate(behind) == "guard_zones");
  CHECK(behind.log.find("access outside tensor x, 0 bytes past its end") != std::string::npos);
  CHECK(failed_gate(reads("i - 1")) == "guard_zones");
  CHECK(reads("i + 2 < n ? i + 2 : i").status == Status::ok);
}

TEST_CASE("an access beside the shared memory of a block is found") {
  Candidates candidates(doubling());
  const auto with = [&](const std::string& text) {
    Variant variant = baseline_variant(doubling());
    variant.source = body(text);
    return candidates.run({.spec = doubling(),
                           .variant = variant,
                           .key = {},
                           .seed = 1,
                           .stage = Stage::confirmation});
  };
  const auto stored = [](const std::string& array, const std::string& place) {
    return array + " s" + place + " = i < n ? x[i] : 0; __syncthreads(); if (i < n) y[i] = 2 * s" +
           place + ";";
  };
  const auto reads = [](const std::string& place) {
    return "__shared__ float s[64]; s[threadIdx.x] = i < n ? x[i] : 0; __syncthreads(); "
           "const float other = s[" +
           place + "]; if (i < n) y[i] = other == 12345.0f ? 0.0f : 2 * s[threadIdx.x];";
  };
  for (const auto& [place, where] : {std::pair{"threadIdx.x + 1", "0 bytes past its end"},
                                     std::pair{"(int)threadIdx.x - 1", "4 bytes before"}}) {
    CAPTURE(place);
    const Outcome outcome = with(reads(place));
    CAPTURE(outcome.log);
    CHECK(failed_gate(outcome) == "guard_zones");
    CHECK(outcome.log.find(std::string("access outside shared memory, ") + where) !=
          std::string::npos);
  }
  // What is written there is the worker's own, which may end by it.
  for (const std::string& text : {stored("__shared__ float s[63];", "[threadIdx.x]"),
                                  stored("__shared__ float s[64];", "[threadIdx.x + 5000]")}) {
    CAPTURE(text);
    const std::string gate = failed_gate(with(text));
    CAPTURE(gate);
    CHECK((gate == "guard_zones" || gate == "launch"));
  }
  for (const std::string& text :
       {stored("__shared__ float s[64];", "[threadIdx.x]"), reads("63 - threadIdx.x"),
        stored("__shared__ float s[2][32];", "[0][threadIdx.x]")}) {
    CAPTURE(text);
    const Outcome outcome = with(text);
    CAPTURE(outcome.log);
    CHECK(outcome.status == Status::ok);
  }
}

TEST_CASE("an atomic update of block scope is whole for the threads of one block alone") {
  HostOptions options = quick();
  options.threads = 2;
  const auto adding = [](const std::string& scope, const std::string& place) {
    return "extern \"C\" __global__ void k(const int* x, int* y, int n) { "
           "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd" +
           scope + "(y + " + place + ", x[i]); }";
  };
  for (const bool each_block_its_own : {true, false}) {
    const std::string place = each_block_its_own ? "blockIdx.x" : "0";
    KernelSpec spec = doubling(DType::i32);
    spec.workloads.front().scalars["n"] = std::int64_t{4096};
    spec.io.args[1] = tensor("y", ArgRole::inout, DType::i32, "n / 64");
    spec.source = adding("", place);
    std::get<ReferenceKernel>(spec.reference).source =
        "__global__ void twice(const int* x, int* y, int n) { "
        "for (int i = 0; i < n; ++i) y[" +
        std::string(each_block_its_own ? "i / 64" : "0") + "] += x[i]; }";
    Candidates candidates(spec, options);
    Variant variant = baseline_variant(spec);
    variant.source = adding("_block", place);
    const Outcome outcome = candidates.run(
        {.spec = spec, .variant = variant, .key = {}, .seed = 1, .stage = Stage::confirmation});
    CAPTURE(outcome.log);
    CHECK(failed_gate(outcome) == (each_block_its_own ? "" : "interleavings"));
  }
}

TEST_CASE("a candidate is timed in turn with the baseline") {
  Candidates candidates(doubling());
  CHECK(candidates.run(baseline_variant(candidates.spec()))
            .timings.at(0)
            .baseline_samples_ns.empty());
  const Outcome outcome = candidates.run(body("if (i < n) y[i] = x[i] + x[i];"));
  REQUIRE(outcome.status == Status::ok);
  const WorkloadTiming& timing = outcome.timings.at(0);
  CHECK(timing.baseline_samples_ns.size() >= 5);
  CHECK(timing.samples_ns.size() >= 5);
}

TEST_CASE("a finalist that could not be timed beside the baseline is not measured") {
  Candidates candidates(doubling());
  Variant broken = baseline_variant(candidates.spec());
  broken.source = "not a kernel";
  Variant crashing = broken;
  crashing.source = body("*(volatile int*)8 = i;");
  Variant candidate = broken;
  candidate.source = body("if (i < n) y[i] = x[i] + x[i];");
  for (const Variant& against : {broken, crashing}) {
    const auto at = [&](Stage stage) {
      return candidates.run(
          {candidates.spec(), candidate, Hash128{}, 1, 0, stage, /*searched_ns=*/0, &against});
    };
    const Outcome final = at(Stage::final);
    CHECK(final.status == Status::not_measured);
    CHECK(final.timings.empty());
    CHECK(final.log.find("could not be timed beside it on workload host") != std::string::npos);
    CHECK(final.verdict.gates.back().answer == GateResult::Answer::not_run);
    CHECK(at(Stage::screening).status == Status::ok);
  }
}

TEST_CASE("equal machine code has one binary key, whatever the text") {
  Candidates candidates(doubling());
  const auto key = candidates.run(body("if (i < n) y[i] = 2 * x[i];")).binary_key;
  CHECK(candidates.run(body("/* the same */ if (i < n) { y[i] = x[i] * 2.0f; }")).binary_key ==
        key);
  CHECK(candidates.run(body("if (i < n) y[i] = x[i] + x[i] * 1.0f + 0.0f * n;")).binary_key != key);
}

TEST_CASE("wrong kernels are refused by the gate that is there for them, and the runner goes on") {
  Candidates candidates(doubling());
  check_each(
      candidates,
      {
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { y[threadIdx.x] = 3 * "
           "x[threadIdx.x]; }",
           Status::wrong_result, "reference", "output y"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { }",
           Status::wrong_result, "outputs_written", "64 elements of output y keep their poison"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { if (threadIdx.x < "
           "63) y[threadIdx.x] = 2 * x[threadIdx.x]; }",
           Status::wrong_result, "outputs_written", "the first is 63"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { y[threadIdx.x] = 2 * "
           "x[threadIdx.x]; y[n + threadIdx.x] = 0; }",
           Status::rejected, "guard_zones", "write outside tensor y, 0 bytes past its end"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { y[threadIdx.x] = 2 * "
           "x[threadIdx.x]; y[-1] = 0; }",
           Status::rejected, "guard_zones", "write outside tensor y"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { y[threadIdx.x] = "
           "x[threadIdx.x] + x[threadIdx.x + 1] * 0 + x[threadIdx.x]; if (x[n + 20000] == 5) y[0] "
           "= 1; }",
           Status::rejected, "guard_zones", "access outside tensor x"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { y[threadIdx.x] = 2 * "
           "x[threadIdx.x]; ((float*)x)[threadIdx.x] = 0; }",
           Status::rejected, "inputs_unchanged", "input x was changed"},
          {"__device__ int calls; extern \"C\" __global__ void k(const float* x, float* y, int n) "
           "{ y[threadIdx.x] = 2 * x[threadIdx.x]; if (threadIdx.x == 0) ++calls; }",
           Status::rejected, "module_state", "global variables"},
          {"__device__ float memo[64]; __device__ int done; extern \"C\" __global__ void k(const "
           "float* x, float* y, int n) { int i = threadIdx.x; if (done < 64) { memo[i] = 2 * x[i]; "
           "++done; } y[i] = memo[i]; }",
           Status::rejected, "module_state", "global variables"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { y[threadIdx.x] += 2 "
           "* x[threadIdx.x]; }",
           Status::wrong_result, "outputs_written", "added to what stood there"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { y[threadIdx.x] = "
           "threadIdx.x < 32 ? 2 * x[threadIdx.x] : y[threadIdx.x - 32] * 0 + 2 * x[threadIdx.x]; "
           "}",
           Status::wrong_result, "schedules_agree", "reverse order"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { if (threadIdx.x > 0 "
           "|| y[0] == 2 * x[0] || y[1] == 2 * x[1] || y[2] == 2 * x[2] || "
           "y[3] == 2 * x[3]) return; for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }",
           Status::wrong_result, "outputs_overwritten", "over most of an earlier result"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { float v = 2 * "
           "x[threadIdx.x]; if (fabsf(y[threadIdx.x] - v) <= 1e-3f * fabsf(v)) return; "
           "y[threadIdx.x] = v; }",
           Status::wrong_result, "outputs_overwritten", "looks at what they hold"},
          {"extern \"C\" __global__ void k(const float* x, float* y, int n) { __shared__ float "
           "s[64]; s[threadIdx.x] = x[threadIdx.x]; y[threadIdx.x] = 2 * s[threadIdx.x] + 0 * s[63 "
           "- threadIdx.x]; }",
           Status::wrong_result, "reference", "output y"},
      });
}

TEST_CASE("text that reaches outside the kernel is refused before anything is run") {
  Candidates candidates(doubling());
  const std::string k = "extern \"C\" __global__ void k(const float* x, float* y, int n) { }\n";
  const std::vector<Expected> rows{
      {"#include \"/etc/passwd\"\n", Status::rejected, "source", "'/etc/passwd' is not among"},
      {"%:include </etc/passwd>\n", Status::rejected, "source", "/etc/passwd"},
      {"#inc\\\nlude \"/etc/passwd\"\n", Status::rejected, "source", "/etc/passwd"},
      {"#/* */include/* */\"/etc/passwd\"\n", Status::rejected, "source", "/etc/passwd"},
      {"/*\n*/ # include <fstream>\n", Status::rejected, "source", "'fstream'"},
      {"#define FILE \"/etc/passwd\"\n#include FILE\n", Status::rejected, "source",
       "line 2: #include of something"},
      {"#include_next <math.h>\n", Status::rejected, "source", "#include_next"},
      {"#import \"x.h\"\n", Status::rejected, "source", "#import"},
      {"#if __has_include(\"/etc/shadow\")\n#endif\n", Status::rejected, "source", "__has_include"},
      {"#line 1 \"x\"\n", Status::rejected, "source", "#line"},
      {"_Pragma(\"GCC dependency \\\"/etc/passwd\\\"\")\n", Status::rejected, "source", "_Pragma"},
      {"#include <cooperative_groups.h>\n", Status::not_applicable, "source",
       "cooperative_groups.h"},
      {"#include <mma.h>\n", Status::not_applicable, "source", "mma.h"},
      {"__device__ void f() { asm volatile(\"nop;\"); }\n", Status::not_applicable, "source",
       "inline PTX"},
      {"__device__ long f() { return clock64(); }\n", Status::not_applicable, "source", "clock"},
      {"__global__ void __cluster_dims__(2, 1, 1) f() { }\n", Status::not_applicable, "source",
       "clusters"},
      {"__device__ void* f() { return malloc(1ull << 40); }\n", Status::not_applicable, "source",
       "device heap"},
      {"__device__ int* f() { return new int[1 << 30]; }\n", Status::not_applicable, "source",
       "device heap"},
      {"#define J(a, b) a##b\n__device__ void f() { J(as, m)(\"nop\"); }\n", Status::compile_error,
       "compile", "kernel.cu:2"},
      {"__device__ void f() { warpath_barrier(0, 0); }\n", Status::rejected, "source", "reserved"},
      {"/* open\n", Status::rejected, "source", "unterminated comment"},
      {"\"open\n", Status::rejected, "source", "unterminated string"},
      {"extern \"C\" void exit(int); __device__ __attribute__((used)) void f() { exit(0); }\n",
       Status::rejected, "imports", "'exit'"},
      {"extern \"C\" int system(const char*); __device__ __attribute__((used)) void f() { "
       "system(\"id\"); }\n",
       Status::rejected, "imports", "'system'"},
      {"__device__ void f() { undeclared(); }\n", Status::compile_error, "compile", "kernel.cu:1"},
      {"} }\n", Status::compile_error, "compile", "kernel.cu:1"},
  };
  for (const auto& row : rows) {
    const std::string text = row.text;
    CAPTURE(text);
    const Outcome outcome = candidates.run(row.text + k);
    CAPTURE(outcome.log);
    CHECK(name(outcome.status) == name(row.status));
    CHECK(failed_gate(outcome) == row.gate);
    CHECK(outcome.log.find(row.log) != std::string::npos);
    CHECK(outcome.log.find("/tmp") == std::string::npos);
  }
  // what is wrong comes first, not who asked for it
  const std::string of_template =
      "template <typename T> __device__ int f(T x) { return x.none; }\n";
  const Outcome outcome = candidates.run(of_template + "__device__ int g() { return f(1); }\n" + k);
  CHECK(outcome.log.starts_with("kernel.cu:1:"));
  CHECK(candidates.sound());
}

TEST_CASE(
    "files of several kernels run by the wanted one, in any encoding, with aligned shared memory "
    "in any spelling") {
  Candidates candidates(doubling());
  const std::string wanted = body("if (i < n) y[i] = 2 * x[i];");
  for (const std::string& text :
       {"__global__ void other(float* y) { asm volatile(\"exit;\"); }\nnamespace { __global__ void "
        "more(int* y) { no_such(y); } }\n" +
            wanted,
        wanted + "\ntemplate <typename T> __global__ void late(T* y) { y[0] = clock64(); "
                 "}\ntemplate __global__ void late<float>(float*);\n",
        "\xEF\xBB\xBF" + wanted, "// caf\xE9 \xFF\n" + wanted,
        body("__shared__ alignas(16) float tile[64]; tile[threadIdx.x] = i < n ? x[i] : 0; "
             "__syncthreads(); if (i < n) y[i] = 2 * tile[threadIdx.x];"),
        body("alignas(16) __shared__ float tile[64]; tile[threadIdx.x] = i < n ? x[i] : 0; "
             "__syncthreads(); if (i < n) y[i] = 2 * tile[threadIdx.x];"),
        body("static __shared__ alignas(alignof(float4)) float tile[64], more[2]; more[0] = 0; "
             "tile[threadIdx.x] = i < n ? x[i] : 0; __syncthreads(); if (i < n) y[i] = 2 * "
             "tile[threadIdx.x];"),
        body("__shared__ __align__(16) float tile[64]; tile[threadIdx.x] = i < n ? x[i] : 0; "
             "__syncthreads(); if (i < n) y[i] = 2 * tile[threadIdx.x];"),
        "#define N 64\n" +
            body(
                "\n#if N\n__shared__\n  alignas(float4) float tile[N];\n#endif\n tile[threadIdx.x] "
                "= i < n ? x[i] : 0; __syncthreads(); if (i < n) y[i] = 2 * tile[threadIdx.x];"),
        body("struct alignas(8) Pair { float a, b; }; __shared__ struct alignas(8) Two { float a, "
             "b; } tile[64]; tile[threadIdx.x].a = i < n ? x[i] : 0; if (i < n) y[i] = 2 * "
             "tile[threadIdx.x].a;")}) {
    CAPTURE(text);
    const Outcome outcome = candidates.run(text);
    CAPTURE(outcome.log);
    CHECK(name(outcome.status) == "ok");
  }
  const Outcome wrong = candidates.run(wanted + "\nconst char* text = \"\xFF\";\n");
  CHECK(wrong.status == Status::compile_error);
  CHECK(wrong.log.find("byte 0xff outside a comment") != std::string::npos);
}

TEST_CASE("a compile error begins with the first error and shows its line") {
  Candidates candidates(doubling());
  const Outcome outcome = candidates.run(body("if (i < n) y[i] = 2 * missing;"));
  CHECK(outcome.status == Status::compile_error);
  CAPTURE(outcome.log);
  CHECK(outcome.log.starts_with("kernel.cu:1:"));
  CHECK(outcome.log.substr(0, outcome.log.find('\n')).find("error: ") != std::string::npos);
  CHECK(outcome.log.find("2 * missing") != std::string::npos);
  CHECK(outcome.log.find('^') != std::string::npos);
}

TEST_CASE("the launch contract is the spec's") {
  Candidates candidates(doubling());
  check_each(candidates,
             {
                 {"extern \"C\" __global__ void k(const float* x, float* y) { }",
                  Status::launch_error, "launch_contract", "takes 2 parameters, the spec passes 3"},
                 {"extern \"C\" __global__ void k(const float* x, float* y, long long n) { }",
                  Status::launch_error, "launch_contract", "parameter 3 (n)"},
                 {"extern \"C\" __global__ void k(const float* x, float* y, float n) { }",
                  Status::launch_error, "launch_contract", "parameter 3 (n)"},
                 {"extern \"C\" __global__ void k(int x, float* y, int n) { }",
                  Status::launch_error, "launch_contract", "parameter 1 (x) must be a pointer"},
             });
  Variant variant = baseline_variant(candidates.spec());
  variant.launch.block[0] = Expression(2048);
  CHECK(candidates.run(variant).status == Status::launch_error);
  variant.launch.block[0] = Expression::parse("n / (n - 64)", "test");
  CHECK(candidates.run(variant).status == Status::launch_error);
  variant = baseline_variant(candidates.spec());
  variant.launch.cluster[0] = Expression(2);
  CHECK(candidates.run(variant).status == Status::not_applicable);
  variant = baseline_variant(candidates.spec());
  variant.compiler_options = {"--use_fast_math", "-DSCALE=2"};
  variant.source = body("y[i] = SCALE * x[i];");
  CHECK(candidates.run(variant).status == Status::ok);
  variant.compiler_options = {"-I/etc"};
  CHECK(candidates.run(variant).status == Status::not_applicable);
}

TEST_CASE(
    "exact outputs are compared bit for bit, inout tensors are restored before every launch") {
  KernelSpec spec = doubling(DType::i32);
  spec.io.args[1] = tensor("y", ArgRole::inout, DType::i32);
  spec.source =
      "extern \"C\" __global__ void k(const int* x, int* y, int n) { atomicAdd(&y[threadIdx.x], "
      "x[threadIdx.x]); }";
  std::get<ReferenceKernel>(spec.reference).source =
      "__global__ void twice(const int* x, int* y, int n) { for (int i = 0; i < n; ++i) y[i] += "
      "x[i]; }";
  spec.tolerance[""] = Tolerance{.exact = true};
  Candidates candidates(spec);
  CHECK(candidates.sound());
  CHECK(candidates
            .run("extern \"C\" __global__ void k(const int* x, int* y, int n) { y[threadIdx.x] += "
                 "x[threadIdx.x] + (threadIdx.x == 9); }")
            .status == Status::wrong_result);
}

TEST_CASE("a spec without a reference is judged by its own baseline, and the verdict says so") {
  KernelSpec spec = doubling();
  spec.reference = std::monostate{};
  Candidates candidates(spec);
  const Outcome outcome = candidates.run(baseline_variant(spec));
  CHECK(outcome.status == Status::ok);
  const auto gate = std::find_if(outcome.verdict.gates.begin(), outcome.verdict.gates.end(),
                                 [](const GateResult& g) { return g.gate == "reference"; });
  CHECK(gate->detail.find("baseline") != std::string::npos);
  CHECK(candidates.run(body("y[i] = 3 * x[i];")).status == Status::wrong_result);
}

TEST_CASE("what cannot run here is refused when the spec is prepared, with one line") {
  auto runner = make_host_runner(quick());
  const auto message = [&](const KernelSpec& spec) -> std::string {
    try {
      runner->prepare(spec);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  KernelSpec spec = doubling();
  spec.kernel_type = KernelType::triton;
  CHECK(message(spec) ==
        "doubling.json/kernel/kernel_type: got triton, expected cuda: the host runner runs nothing "
        "else");
  spec = doubling();
  spec.workloads[0].target = WorkloadTarget::gpu;
  CHECK(message(spec).find("expected a workload for the host runner") != std::string::npos);
  spec = doubling();
  spec.workloads[0].scalars["n"] = std::int64_t{1} << 33;
  CHECK(message(spec).find("65536 MiB of tensors") != std::string::npos);
  spec = doubling();
  std::get<ReferenceKernel>(spec.reference).source = "broken";
  CHECK(message(spec).find("doubling.json:/reference/kernel") == 0);
  spec = doubling();
  std::get<ReferenceKernel>(spec.reference).source =
      "__global__ void twice(const float* x, float* y) { }";
  CHECK(message(spec).find("takes 2 parameters") != std::string::npos);
  HostOptions missing;
  missing.compiler = "no-such-compiler";
  CHECK_THROWS_WITH_AS(make_host_runner(missing)->prepare(doubling()),
                       "cannot start no-such-compiler: not found in /usr/local/bin:/usr/bin:/bin",
                       Error);
}

TEST_CASE("another compiler serves as well, where it is installed") {
  HostOptions options = quick();
  options.compiler = "clang++";
  if (std::system("command -v clang++ > /dev/null") != 0) {
    MESSAGE("skipped: clang++ is not installed");
    return;
  }
  CHECK(Candidates(doubling(), options).sound());
}

TEST_SUITE_END();
