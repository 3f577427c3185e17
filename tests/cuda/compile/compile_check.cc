#include "runners/cuda/compile/compile_check.h"

#include <doctest/doctest.h>

#include "engine/base/error.h"
#include "runners/cuda/options.h"
#include "tests/cuda/support.h"
#include "tests/support/summing_spec.h"

using namespace warpath;
using namespace warpath::cuda;
using test::summing;
using test::two_pass;

namespace {

/// A check without a cache on disk; its workers are this program.
class Bench {
 public:
  explicit Bench(KernelSpec spec = summing())
      : check_(options(), "/proc/self/exe", "sm_90a"), spec_(std::move(spec)) {
    check_.prepare(spec_);
  }
  [[nodiscard]] Outcome run(const Variant& variant) const { return check_.check(variant); }
  [[nodiscard]] const CompileCheck& check() const { return check_; }

 private:
  static CudaOptions options() {
    CudaOptions out;
    out.compile_workers = 1;
    out.cache_mib = 0;
    return out;
  }
  CompileCheck check_;
  KernelSpec spec_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE_BEGIN("nvrtc_compile_check");

TEST_CASE("a variant is judged without a device, and has figures but no times") {
  const Bench bench;
  CHECK(bench.check().device().is_gpu);
  const Outcome outcome = bench.run(baseline_variant(summing()));
  CHECK(outcome.status == Status::ok);
  CHECK(outcome.timings.empty());
  CHECK(outcome.verdict.passed());
  REQUIRE(outcome.diagnosis.has_value());
  CHECK(outcome.diagnosis->facts.at("registers_per_thread").value > 0);
  Variant broken = baseline_variant(summing());
  broken.source = "extern \"C\" __global__ void total(";
  CHECK(bench.run(broken).status == Status::compile_error);
}

TEST_CASE("a launch that no device of the architecture allows is refused") {
  const Bench bench;
  Variant variant = baseline_variant(summing());
  variant.launch.dynamic_smem_bytes = Expression(300 << 10);
  CHECK(bench.run(variant).status == Status::limits_exceeded);
  CHECK_THROWS_AS(CompileCheck(CudaOptions{}, "/proc/self/exe", "sm_11"), Error);
}

TEST_CASE("the kernels of steps are entries of the code, and other kernels are left out") {
  const Bench bench;
  const Outcome outcome = bench.run(two_pass());
  CAPTURE(outcome.log);
  CHECK(outcome.status == Status::ok);
  Variant alone = two_pass();
  alone.after.clear();
  const Outcome without = bench.run(alone);
  CHECK(without.status == Status::ok);
  CHECK(without.binary_key != outcome.binary_key);
  Variant wrong = two_pass();
  wrong.after[0].arguments = {"partial", "y"};
  CHECK(contains(bench.run(wrong).log, "add_partials takes parameters"));
  wrong.after[0].kernel_name = "add_others";
  CHECK(bench.run(wrong).status == Status::rejected);
}

TEST_CASE("a file of several kernels is judged by the wanted one, whatever the others do") {
  const Bench bench;
  const std::string own = summing().source;
  const std::string others =
      "__device__ int calls;\n"
      "extern \"C\" int printf(const char*, ...);\n"
      "__global__ void counting(int* y) { ++calls; y[0] = clock(); }\n"
      "template <typename T> __global__ void wide(T* y) { __shared__ T s[20000]; s[threadIdx.x] = "
      "1; __syncthreads(); y[0] = s[0]; }\n"
      "template __global__ void wide<double>(double*);\n"
      "namespace { __global__ void hidden(float* y) { no_such_function(y); } }\n";
  for (const std::string& source : {others + own, own + "\n" + others}) {
    Variant variant = baseline_variant(summing());
    variant.source = source;
    const Outcome outcome = bench.run(variant);
    CAPTURE(outcome.log);
    CHECK(outcome.status == Status::ok);
  }
  // A kernel that a macro makes cannot be left out of the text; it is left out of what is judged.
  Variant made = baseline_variant(summing());
  made.source =
      "#define MAKE(name) extern \"C\" __global__ void name(long long* y) { y[0] = clock64(); "
      "}\nMAKE(other)\n" +
      own;
  CHECK(bench.run(made).status == Status::ok);
}

TEST_CASE("machine code that is launched otherwise has another key") {
  const Bench bench;
  const std::string key = bench.run(two_pass()).binary_key;
  Variant other = two_pass();
  other.after[0].launch.block[0] = Expression(2);
  CHECK(bench.run(other).binary_key != key);
  other = two_pass();
  other.scratch[0].size_bytes = Expression(1024);
  CHECK(bench.run(other).binary_key != key);
  CHECK(bench.run(two_pass()).binary_key == key);
}

TEST_CASE("each version is compiled and judged, with its steps, for the sizes that it serves") {
  KernelSpec spec = summing();
  for (const std::int64_t n : {77, 78}) {
    Workload& other = spec.workloads.emplace_back();
    other.name = "of " + std::to_string(n);
    other.scalars["n"] = n;
  }
  const Bench bench(spec);
  Variant variant = two_pass();
  variant.when = {{"n", 1003}};
  variant.versions = {baseline_variant(spec), baseline_variant(spec)};
  variant.versions[0].when = {{"n", 77}};
  const Outcome outcome = bench.run(variant);
  CAPTURE(outcome.log);
  CHECK(outcome.status == Status::ok);
  CHECK(outcome.binary_key != bench.run(baseline_variant(spec)).binary_key);
  for (const std::size_t i : {0, 1}) {
    CAPTURE(i);
    Variant wrong = variant;
    wrong.versions[i].source = "extern \"C\" __global__ void total(";
    CHECK(bench.run(wrong).status == Status::compile_error);
    wrong.versions[i].source =
        "extern \"C\" __global__ void total(const float* x, float* y, int n) {\n"
        "  y[0] = clock();\n}\n";
    CHECK(bench.run(wrong).status == Status::rejected);
    wrong = variant;
    wrong.versions[i].launch.block[0] = Expression(2000);
    CHECK(bench.run(wrong).status == Status::launch_error);
  }
  // None of it matters where it is never launched.
  variant.versions[0].when = {{"n", 5}};
  variant.versions[0].source = "extern \"C\" __global__ void total(";
  CHECK(bench.run(variant).status == Status::ok);
}

TEST_SUITE_END();
