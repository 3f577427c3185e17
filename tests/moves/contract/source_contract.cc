#include "moves/contract/source_contract.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "moves/contract/contract_fields.h"
#include "moves/contract/contract_text.h"
#include "register_moves.h"
#include "runners/worker/process.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;

namespace {

ArgSpec tensor(const std::string& name, ArgRole role) {
  ArgSpec arg;
  arg.name = name;
  arg.role = role;
  arg.tensor.emplace().shape = {Expression::parse("n", "test")};
  if (role != ArgRole::output) arg.tensor->content = InitRule{};
  return arg;
}

ArgSpec number(const std::string& name, std::int64_t value) {
  ArgSpec arg;
  arg.name = name;
  arg.type = ArgType::integer;
  arg.role = ArgRole::scalar;
  arg.value = value;
  return arg;
}

std::string kernel(const std::string& parameters, const std::string& body) {
  return "extern \"C\" __global__ void scale(" + parameters + ") {\n  " + body + "\n}\n";
}

/// y = s * x over n elements.
KernelSpec scaling() {
  KernelSpec spec;
  spec.name = "scaling";
  spec.origin = "scaling.json";
  spec.source =
      kernel("const float* x, float* y, int n, int s",
             "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = s * x[i];");
  spec.kernel_name = "scale";
  spec.io.args = {tensor("x", ArgRole::input), tensor("y", ArgRole::output), number("n", 4096),
                  number("s", 3)};
  spec.io.launch.grid[0] = Expression::parse("ceil_div(n, 256)", "test");
  spec.io.launch.block[0] = Expression(256);
  for (const std::int64_t n : {4096, 8192}) {
    Workload& w = spec.workloads.emplace_back();
    w.name = "of " + std::to_string(n);
    w.scalars["n"] = n;
  }
  return spec;
}

KernelSpec one_size() {
  KernelSpec spec = scaling();
  spec.workloads.pop_back();
  return spec;
}

DeviceFacts gpu() {
  DeviceFacts device;
  device.name = "a device";
  device.is_gpu = true;
  device.arch = "sm_90";
  return device;
}

Variant with(const KernelSpec& spec, const std::string& parameters, const std::string& body) {
  Variant out = baseline_variant(spec);
  out.source = kernel(parameters, body);
  return out;
}

SourceContract contract_of(const KernelSpec& spec, const Variant& variant) {
  return source_contract(spec, gpu(), variant);
}

std::int64_t alignment(const SourceContract& c, const std::string& name) {
  const auto it = std::ranges::find(c.pointers, name, &SourceContract::Pointer::argument);
  return it == c.pointers.end() ? 0 : it->alignment_bytes;
}

constexpr const char* kAll = "const float* x, float* y, int n, int s";

}  // namespace

TEST_SUITE_BEGIN("source_contract");

TEST_CASE("a source in which the architecture was decided is for that one alone") {
  KernelSpec spec = scaling();
  spec.source = kernel(kAll, "#if __CUDA_ARCH__ >= 800\n  y[0] = s * x[0];\n#endif\n");
  CHECK_FALSE(contract_of(spec, baseline_variant(spec)).narrowed);
  const SourceContract c = contract_of(spec, with(spec, kAll, "  y[0] = s * x[0];\n"));
  CHECK(c.compute_capability == 90);
  CHECK(c.exact_architecture);
  CHECK(c.narrowed);
  CHECK(compute_capability("sm_100a") == 100);
  CHECK(compute_capability("") == 0);
}

TEST_CASE("the spec's own kernel relies on nothing more than the spec says") {
  const KernelSpec spec = scaling();
  const SourceContract c = contract_of(spec, baseline_variant(spec));
  CHECK_FALSE(c.narrowed);
  CHECK(contract_summary(c).empty());
  CHECK(c.sizes.empty());
  CHECK(c.verified.at("of 4096") == "n = 4096, s = 3");
  CHECK(c.verified.at("of 8192") == "n = 8192, s = 3");
}

TEST_CASE("an input that the source does not read any more holds for its values in the workloads") {
  const KernelSpec spec = one_size();
  const SourceContract c = contract_of(
      spec, with(spec, kAll, "int i = blockIdx.x * 256 + threadIdx.x; if (i < n) y[i] = 3;"));
  CHECK(c.ignored == std::vector<std::string>{"x"});
  CHECK(c.narrowed);
  CHECK(contract_summary(c).find("x not read") != std::string::npos);
  CHECK(Codec<SourceContract>::write(c).at("ignored_inputs").at(0) == "x");
  CHECK(contract_lines(c).at(1) ==
        "x as in the verified workloads only: the source does not read it");
}

TEST_CASE(
    "an argument that the source does not follow any more holds for the values that were "
    "verified") {
  struct Row {
    const char* parameters;
    const char* body;
  };
  for (const Row& row : {Row{"const float* x, float* y, int /*n*/, int s",
                             "constexpr int n = 4096; int i = blockIdx.x * 256 + threadIdx.x; if "
                             "(i < n) y[i] = s * x[i];"},
                         Row{"const float* x, float* y, int, int s",
                             "int i = blockIdx.x * 256 + threadIdx.x; y[i] = s * x[i];"},
                         Row{kAll, "int i = blockIdx.x * 256 + threadIdx.x; y[i] = s * x[i];"},
                         Row{"const float* x, float* y, int unused, int s",
                             "const int n = 4096; int i = blockIdx.x * 256 + threadIdx.x; if (i < "
                             "n) y[i] = s * x[i];"}}) {
    CAPTURE(row.body);
    const KernelSpec spec = one_size();
    const SourceContract c = contract_of(spec, with(spec, row.parameters, row.body));
    REQUIRE(c.sizes.size() == 1);
    CHECK(c.sizes[0] == SourceContract::Fixed{"n", {"4096"}});
    CHECK(c.narrowed);
    CHECK(contract_summary(c) == "n = 4096");
  }
  const KernelSpec spec = scaling();
  const SourceContract two = contract_of(
      spec,
      with(spec, kAll, "int i = blockIdx.x * 256 + threadIdx.x; if (i < n) y[i] = 3 * x[i];"));
  CHECK(two.sizes == std::vector{SourceContract::Fixed{"s", {"3"}}});
  const SourceContract several = contract_of(
      spec, with(spec, kAll, "int i = blockIdx.x * 256 + threadIdx.x; y[i] = s * x[i];"));
  CHECK(several.sizes == std::vector{SourceContract::Fixed{"n", {"4096", "8192"}}});
}

TEST_CASE("a launch that follows an argument no more fixes it") {
  const KernelSpec spec = one_size();
  Variant variant = baseline_variant(spec);
  variant.launch.grid[0] = Expression(16);
  CHECK(contract_of(spec, variant).sizes == std::vector{SourceContract::Fixed{"n", {"4096"}}});
}

TEST_CASE("the widest access says how an address must be aligned, through locals and helpers too") {
  const KernelSpec spec = one_size();
  const std::string own = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n / 4) ";
  SourceContract c = contract_of(
      spec,
      with(spec, kAll,
           own + "{ float4 v = reinterpret_cast<const float4*>(x)[i]; y[4 * i] = s * v.x; }"));
  CHECK(alignment(c, "x") == 16);
  CHECK(alignment(c, "y") == 4);
  CHECK(c.narrowed);
  c = contract_of(spec, with(spec, kAll,
                             own + "{ const float* row = x + 4 * i; float* out = y; *(float2*)(out "
                                   "+ 4 * i) = *(const float2*)row; y[i] = s; }"));
  CHECK(alignment(c, "x") == 8);
  CHECK(alignment(c, "y") == 8);
  Variant helped = with(spec, kAll, own + "y[i] = s * sum(x + 4 * i);");
  helped.source =
      "__device__ float sum(const float* p) { float4 v = *reinterpret_cast<const float4*>(p); "
      "return v.x + v.y; }\n" +
      helped.source;
  CHECK(alignment(contract_of(spec, helped), "x") == 16);
  // Shared memory is the kernel's own.
  c = contract_of(spec,
                  with(spec, kAll,
                       "__shared__ float tile[256]; " + own +
                           "{ tile[0] = x[i]; y[i] = s * reinterpret_cast<float4*>(tile)->x; }"));
  CHECK(alignment(c, "x") == 4);
  CHECK_FALSE(c.narrowed);
}

TEST_CASE("restrict says that buffers are apart") {
  const KernelSpec spec = one_size();
  const SourceContract c = contract_of(
      spec, with(spec, "const float* __restrict__ x, float* __restrict__ y, int n, int s",
                 "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = s * x[i];"));
  CHECK(c.narrowed);
  CHECK(contract_summary(c) == "x, y apart");
  CHECK(Codec<SourceContract>::write(c)["no_overlap"] == nlohmann::json{"x", "y"});
}

TEST_CASE("a contract that is written and read says the same") {
  const KernelSpec spec = one_size();
  SourceContract c = contract_of(
      spec, with(spec, "const float* __restrict__ x, float* __restrict__ y, int n, int s",
                 "asm volatile(\"wgmma.fence.sync.aligned;\"); int i = blockIdx.x * 256 + "
                 "threadIdx.x; if (i < 4096) y[i] = x[i];"));
  c.sizes.push_back({"z", {"1", "2"}});
  c.callers_launch = false;  // not in the file
  const nlohmann::json written = Codec<SourceContract>::write(c);
  SourceContract again;
  Codec<SourceContract>::read(JsonCursor(written, "f.json"), again);
  CHECK(Codec<SourceContract>::write(again) == written);
  CHECK(contract_summary(again) == contract_summary(c));
  CHECK(contract_lines(again) == contract_lines(c));
}

TEST_CASE("words of one architecture, clusters and much shared memory narrow the device") {
  const KernelSpec spec = one_size();
  const std::string own =
      "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = s * x[i]; ";
  const auto device = [&](const std::string& more) {
    return Codec<SourceContract>::write(
               contract_of(spec, with(spec, kAll, own + more)))["device"]["architecture"]
        .get<std::string>();
  };
  CHECK(device("") == "");
  CHECK(device("asm volatile(\"cp.async.commit_group;\");") == "sm_80");
  CHECK(device("asm volatile(\"cp.async.bulk.commit_group;\");") == "sm_90");
  CHECK(device("asm volatile(\"wgmma.fence.sync.aligned;\");") == "sm_90a");
  Variant variant = baseline_variant(spec);
  variant.launch.cluster[0] = Expression(2);
  CHECK(contract_of(spec, variant).compute_capability == 90);
  variant = baseline_variant(spec);
  variant.launch.dynamic_smem_bytes = Expression(100000);
  const SourceContract c = contract_of(spec, variant);
  CHECK(c.narrowed);
  CHECK(std::ranges::any_of(contract_lines(c), [](const std::string& line) {
    return line.find("cudaFuncAttributeMaxDynamicSharedMemorySize") != std::string::npos;
  }));
}

TEST_CASE("a source that cannot be read holds for what was verified and no more") {
  const KernelSpec spec = one_size();
  Variant variant = baseline_variant(spec);
  variant.source = "template <class T> struct { oops\n" + variant.source + "}";
  const SourceContract c = contract_of(spec, variant);
  if (!c.unread.empty()) CHECK(c.sizes.size() == 2);
  CHECK_FALSE(shipped_source(spec, variant, c).empty());
}

TEST_CASE("what moves narrow is in the contract, whichever they are") {
  const KernelSpec spec = one_size();
  const MoveRegistry& registry = registered_moves();
  const DeviceFacts device = gpu();
  const auto apply = [&](const Variant& from, const std::string& name, const std::string& site) {
    std::string why;
    const MoveContext context{.spec = spec, .variant = from, .device = device};
    const auto move = registry.create("move", name);
    for (const MoveInstance& instance : move->enumerate(context)) {
      if (instance.site != site && !site.empty()) continue;
      if (auto out = move->apply(context, instance, why)) return *out;
    }
    FAIL(name, " does not apply: ", why);
    return from;
  };
  const Variant sized = apply(baseline_variant(spec), "specialise_shape", "shape");
  CHECK(contract_of(spec, sized).sizes ==
        std::vector{SourceContract::Fixed{"n", {"4096"}}, SourceContract::Fixed{"s", {"3"}}});
  const Variant apart = apply(baseline_variant(spec), "qualify_pointers", "arguments");
  CHECK(contract_summary(contract_of(spec, apart)) == "x, y apart");
}

TEST_CASE(
    "the shipped source is the measured one between its contract and a function that checks "
    "arguments") {
  const KernelSpec spec = one_size();
  const Variant variant =
      with(spec, "const float* __restrict__ x, float* y, int /*n*/, int s",
           "constexpr int n = 4096; int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n / 4) "
           "y[i] = s * reinterpret_cast<const float4*>(x)[i].x;");
  const std::string shipped = shipped_source(spec, variant, contract_of(spec, variant));
  CHECK(shipped.find(variant.source) != std::string::npos);
  CHECK(shipped.find("n = 4096 only") < shipped.find(variant.source));
  CHECK(shipped.find("x aligned to 16 bytes") < shipped.find(variant.source));

  const test::TemporaryFolder folder;
  test::put_text(
      folder / "check.cc",
      shipped.substr(shipped.find("#if !defined(__CUDACC_RTC__)")) +
          "#include <cstdio>\nalignas(16) float a[8], b[8];\n"
          "static void say(const char* w) { std::puts(w == nullptr ? \"fine\" : w); }\n"
          "int main() { say(scale_contract(a, b, 4096, 5)); say(scale_contract(a, b, 4095, 5)); "
          "say(scale_contract(a + 1, b, 4096, 5)); say(scale_contract(a, a, 4096, 5)); }\n");
  const ProcessSpec build{.argv = {"g++", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function",
                                   "-o", "check", "check.cc"},
                          .environment = {"PATH=/usr/bin:/bin"},
                          .directory = folder.path().string()};
  const ProcessResult built = run_process(build, std::chrono::seconds(60), 1 << 16);
  REQUIRE_MESSAGE(built.code == 0, built.output);
  const ProcessResult said =
      run_process({.argv = {"./check"}, .environment = {}, .directory = folder.path().string()},
                  std::chrono::seconds(10), 1 << 16);
  CHECK(said.output ==
        "fine\nn is not 4096\nx is not aligned to 16 bytes\nx and y are one buffer\n");
}

TEST_SUITE_END();
