#include "moves/contract/kernel_contract.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/spec/spec_load.h"
#include "tests/support/spec_fixtures.h"

using nlohmann::json;
using Problems = std::vector<std::string>;

namespace {

json tensor(const std::string& name,
            const std::string& role,
            const std::string& dtype = "float32") {
  return {{"name", name},
          {"type", "tensor"},
          {"role", role},
          {"tensor_spec", {{"shape", {"n"}}, {"dtype", dtype}}}};
}

/// k over x, y and n, unless `args` says otherwise.
json spec_of(const std::string& source, json args = {}) {
  if (args.empty())
    args = {tensor("x", "input"),
            tensor("y", "output"),
            {{"name", "n"}, {"type", "int"}, {"value", 64}}};
  return {{"name", "k"},
          {"kernel",
           {{"source_code", source},
            {"metadata", {{"kernel_name", "k"}}},
            {"io", {{"args", args}, {"launch", {{"grid", {{"x", 1}}}, {"block", {{"x", 64}}}}}}}}},
          {"reference", {{"host_op", {{"op", "copy"}, {"operands", {{"out", "y"}}}}}}}};
}

Problems problems_of(const json& spec) {
  return warpath::contract_problems(warpath::parse_specs(spec.dump(), "k.json", "").front());
}

const std::string kBody =
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }";

}  // namespace

TEST_SUITE_BEGIN("kernel_contract");

TEST_CASE("a kernel that takes what the spec says is no problem") {
  for (const std::string head :
       {"extern \"C\" __global__ void k(const float* x, float* y, int n)",
        "__global__ void __launch_bounds__(64) k(const float* __restrict__ x, float y[], const "
        "unsigned n)",
        "using real = float;\ntypedef float value;\n__global__ void k(const real* x, value* y, int "
        "n)",
        "__global__ void k(const float* a, float* b, int n) { b[0] = a[0]; }\n__device__ void "
        "other(const float* x, float* y, int n)"}) {
    CAPTURE(head);
    CHECK(problems_of(spec_of(head + " " + kBody)) == Problems{});
  }
}

TEST_CASE("a kernel that is not there is answered with those that are") {
  CHECK(problems_of(
            spec_of("__global__ void first(float* y) {}\n__global__ void second(float* y) {}\n")) ==
        Problems{"k.json:/kernel/metadata/kernel_name: got k, expected one of the kernels of the "
                 "source: first, second"});
  CHECK(problems_of(spec_of("__device__ void k(float* y) {}\n"))
            .front()
            .find("expected a kernel (__global__)") != std::string::npos);
  CHECK(problems_of(spec_of("int a;\n")).front().find("it holds none") != std::string::npos);
}

TEST_CASE("number, order and type of the arguments are those of the parameters") {
  CHECK(problems_of(spec_of("__global__ void k(const float* x, float* y) { y[0] = x[0]; }")) ==
        Problems{"k.json:/kernel/io/args: got 3 (x, y, n) arguments, expected one for each "
                 "parameter of k: 2 (x, y)"});
  CHECK(problems_of(spec_of("__global__ void k(float* y, const float* x, int n) " + kBody)) ==
        Problems{"k.json:/kernel/io/args/0/name: got x, expected y, in the order of the "
                 "parameters: k(y, x, n)"});
  const auto with = [](const json& x, const json& y, const json& n) {
    return problems_of(
        spec_of("__global__ void k(const float* x, float* y, int n) " + kBody, {x, y, n}));
  };
  const json x = tensor("x", "input"), y = tensor("y", "output"),
             n = {{"name", "n"}, {"type", "int"}, {"value", 64}};
  CHECK(with(tensor("x", "input", "float64"), y, n) ==
        Problems{"k.json:/kernel/io/args/0/tensor_spec/dtype: got float64, expected float32, as "
                 "parameter 1 of k, `const float* x` says"});
  CHECK(with(tensor("x", "input", "int32"), y, n).size() == 1);
  CHECK(with(x, tensor("y", "output", "float16"), n).size() == 1);
  CHECK(with(x, y, {{"name", "n"}, {"type", "int"}, {"dtype", "int64"}, {"value", 64}}) ==
        Problems{"k.json:/kernel/io/args/2/dtype: got int64, expected int32, as parameter 3 of k, "
                 "`int n` says"});
  json shaped = y;
  shaped["tensor_spec"]["shape"] = {64};
  json other = x;
  other["tensor_spec"]["shape"] = {64};
  CHECK(with(other, shaped, {{"name", "n"}, {"type", "float"}, {"value", 1.5}}).size() == 1);
  CHECK(with(other, shaped, {{"name", "n"}, {"type", "bool"}, {"value", true}}).size() == 1);
  json scalar = {{"name", "z"}, {"type", "int"}, {"value", 1}};
  CHECK(with(other, scalar, shaped).size() == 2);
}

TEST_CASE("a half is no bfloat16 and raw bytes are anything") {
  const auto with = [](const std::string& type, const std::string& dtype) {
    return problems_of(
               spec_of("__global__ void k(const " + type + "* x, float* y, int n) { y[n] = 1; }",
                       {tensor("x", "input", dtype),
                        tensor("y", "output"),
                        {{"name", "n"}, {"type", "int"}, {"value", 64}}}))
        .size();
  };
  CHECK(with("__half", "bfloat16") == 1);
  CHECK(with("int", "float32") == 1);
  CHECK(with("double", "float32") == 1);
  CHECK(with("long long", "int32") == 1);
  for (const auto& [type, dtype] :
       std::initializer_list<std::pair<std::string, std::string>>{{"__half", "float16"},
                                                                  {"half", "float16"},
                                                                  {"__nv_bfloat16", "bfloat16"},
                                                                  {"unsigned", "float32"},
                                                                  {"uint4", "bfloat16"},
                                                                  {"float4", "float32"},
                                                                  {"float4", "float16"},
                                                                  {"char", "float32"},
                                                                  {"void", "float64"},
                                                                  {"unsigned char", "bool"},
                                                                  {"int8_t", "int8"},
                                                                  {"uint16_t", "bfloat16"},
                                                                  {"long long", "int64"},
                                                                  {"Packed", "float32"},
                                                                  {"unsigned", "int32"}}) {
    CAPTURE(type);
    CHECK(with(type, dtype) == 0);
  }
}

TEST_CASE("what the kernel writes is an output, and an output is written") {
  const json n = {{"name", "n"}, {"type", "int"}, {"value", 64}};
  CHECK(problems_of(
            spec_of("__global__ void k(float* x, float* y, int n) { x[0] = 1;\n y[0] = x[1]; }")) ==
        Problems{"k.json:/kernel/io/args/0/role: got input, expected output or inout: k writes x "
                 "(line 1 of the source)"});
  CHECK(
      problems_of(
          spec_of(
              "__global__ void k(float* x, float* y, int n) { atomicAdd(&x[0], 1.f); y[0] = 1; }"))
          .size() == 1);
  CHECK(problems_of(spec_of("__global__ void k(float* x, float* y, int n) { x[0] = y[0]; }",
                            {tensor("x", "output"), tensor("y", "output"), n})) ==
        Problems{"k.json:/kernel/io/args/1/role: got output, expected input: k never writes y"});
  // What may be changed may also stay as it was: scratch that another variant uses.
  CHECK(problems_of(spec_of("__global__ void k(float* x, float* y, int n) { x[0] = y[0]; }",
                            {tensor("x", "output"), tensor("y", "inout"), n})) == Problems{});
  // Not followed, so not judged: a function from elsewhere, a pointer that is chosen, text that
  // macros make.
  for (const std::string body :
       {"{ elsewhere(x, y, n); }", "{ float* p = n > 3 ? x : y; p[0] = 1; }",
        "{ asm(\"st.global.f32 [%0], 0f3f800000;\" :: \"l\"(y)); }",
        "{\n#define STORE(v) y[0] = (v)\n STORE(x[0]); }",
        "{ for (float* p = y; p < y + n; ++p) *p = x[0]; }", "{}",
        "{ float4* v = reinterpret_cast<float4*>(y); v[0] = make_float4(0, 0, 0, x[0]); }",
        "{ [&] { y[0] = x[0]; }(); }"}) {
    CAPTURE(body);
    CHECK(problems_of(spec_of("__global__ void k(float* x, float* y, int n) " + body)) ==
          Problems{});
  }
}

TEST_CASE(
    "macros, templates, packs, conditions and compile-time arguments are followed or left alone") {
  const json x = tensor("x", "input"), y = tensor("y", "output"),
             n = {{"name", "n"}, {"type", "int"}, {"value", 64}};
  const json wide = {{"name", "WIDE"}, {"type", "int"}, {"value", 1}, {"is_meta", true}};
  CHECK(problems_of(
            spec_of("#if WIDE\n__global__ void k(const double* x, float* y, int "
                    "n)\n#else\n__global__ void k(const float* x, float* y, int n)\n#endif\n" +
                        kBody,
                    {x, wide, y, n}))
            .size() == 1);
  CHECK(problems_of(spec_of(
            "#define ARGS const double* x, float* y\n__global__ void k(ARGS, int n) " + kBody)) ==
        Problems{});
  CHECK(problems_of(
            spec_of("#define P(t, v) const t* v\n__global__ void k(P(float, x), float* y, int n) " +
                    kBody)) == Problems{});
  CHECK(problems_of(
            spec_of("#define DEFINE(name) __global__ void name(const float* x, float* y, int n) " +
                    kBody + "\nDEFINE(k)\n")) == Problems{});
  CHECK(problems_of(spec_of("template <typename... T> __global__ void k(T... all) {}")) ==
        Problems{});
  json templated = spec_of(
      "template <typename T, int N> __global__ void k(const T* x, float* y, int n) " + kBody);
  templated["kernel"]["metadata"]["name_expressions"] = {"k<double, 4>"};
  CHECK(problems_of(templated).size() == 1);
  templated["kernel"]["metadata"]["name_expressions"] = {"k<float, 4>"};
  CHECK(problems_of(templated) == Problems{});
}

TEST_CASE("a reference kernel takes the same and writes the spec's types") {
  json spec = spec_of("__global__ void k(const float* x, float* y, int n) " + kBody);
  const auto with = [&](const std::string& source) {
    spec["reference"] = {{"kernel",
                          {{"source_code", source},
                           {"kernel_name", "r"},
                           {"launch", {{"grid", {{"x", 1}}}, {"block", {{"x", 64}}}}}}}};
    return problems_of(spec);
  };
  CHECK(with("__global__ void r(const float* in, float* out, int n) { out[0] = in[0]; }") ==
        Problems{});
  CHECK(with("__global__ void r(const float* x, double* y, int n) { y[0] = x[0]; }") ==
        Problems{"k.json:/reference/kernel: got parameter 2 of r, `double* y`, expected what the "
                 "spec's y is: float32"});
  CHECK(with("__global__ void r(const float* x, float* y) { y[0] = x[0]; }").size() == 1);
  CHECK(with("__global__ void q(const float* x, float* y, int n) { y[0] = x[0]; }")
            .front()
            .find("/reference/kernel/kernel_name: got r, expected one of the kernels of the "
                  "source: q") != std::string::npos);
}

TEST_CASE("every spec of the tree agrees with its kernel") {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  const fs::path root = WARPATH_SOURCE_ROOT;
  for (const auto& folder : {root / "specs", root / "tests" / "data"}) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() == ".json" && name != "schema.json")
        files.push_back(entry.path());
    }
  }
  int specs = 0;
  for (const fs::path& file : files) {
    std::vector<warpath::KernelSpec> loaded;
    try {
      loaded = warpath::load_specs(file.string());
    } catch (const std::exception&) {
      continue;  // other data
    }
    for (const warpath::KernelSpec& spec : loaded) {
      CAPTURE(file.string());
      CHECK(warpath::contract_problems(spec) == Problems{});
      ++specs;
    }
  }
  CHECK(specs >= 20);
}

TEST_SUITE_END();
