#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/base/hash.h"
#include "engine/spec/spec_load.h"
#include "runners/cuda/driver/toolkit_program.h"
#include "tests/experiments/program.h"
#include "tests/experiments/ship/exported.h"
#include "tests/support/recorded_gpu_run.h"

using namespace warpath;
using namespace warpath::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

KernelSpec softmax() {
  return load_specs((source_root() / "specs/triton/softmax.json").string()).front();
}

/// Other tunables, and a text that relies on the rows of the workload.
Variant two_rows(const KernelSpec& spec) {
  Variant out = baseline_variant(spec);
  out.tunables["ROWS"] = 2;
  out.tunables["num_warps"] = 8;
  const std::string from = "inside = (rows[:, None] < N) & (columns[None, :] < C)";
  out.source.replace(out.source.find(from), from.size(), "inside = columns[None, :] < C");
  return out;
}

/// The run of a kernel in Triton, exported.
std::string exported_softmax(const TemporaryFolder& folder,
                             const Variant& best,
                             const std::string& architectures) {
  test::record_gpu_run(folder / "run", softmax(), best);
  const ProgramResult made =
      run_program({"export", folder / "run", folder / "out", "--arch", architectures});
  REQUIRE_MESSAGE(made.code == 0, made.err);
  return folder / "out";
}

/// Stands in for Triton's launch, and for tensors; prints what would be launched.
constexpr const char* kCaller = R"py(
import sys, types
import triton_softmax as exported
assert "torch" not in sys.modules and "triton" not in sys.modules

class Parameter:
    def __init__(self, name, is_constexpr):
        self.name, self.is_constexpr = name, is_constexpr

class Kernel:
    def __init__(self, text):
        head = text.split("def softmax(")[1].split(")")[0]
        self.params = [Parameter(p.split(":")[0].strip(), "constexpr" in p) for p in head.split(",")]
    def __getitem__(self, grid):
        return lambda **given: print(grid, sorted((k, v) for k, v in given.items() if not hasattr(v, "dtype")))

class Tensor:
    dtype = "torch.float32"
    def is_contiguous(self):
        return True

exported._kernel = lambda file, name: Kernel(open(file).read())
o, x = Tensor(), Tensor()
print(exported.launch(o, x, 1.5, 16384, 2048), exported.reason)
print(exported.launch(o, x, 1.5, 100, 2048), exported.reason)
print(exported.launch(o, x, 1.5, 16384, 2048, COLUMNS=4096), exported.reason)
Tensor.dtype = "torch.float16"
try:
    exported.launch(o, x, 1.5, 16384, 2048)
except TypeError as error:
    print(error)
)py";

bool has_file(const std::string& folder, const std::string& name) {
  return fs::exists(fs::path(folder) / name);
}

/// The C and C++ of an exported folder that need no machine with CUDA's libraries.
void check_compiles(const std::string& folder, const std::string& name) {
  if (nvcc().empty()) {
    MESSAGE("not compiled: no headers of CUDA");
    return;
  }
  for (const std::string part : {"_state.c", "_driver.c", "_context.c", "_images.c"}) {
    const CommandOutput built =
        run_in(folder, {"cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                        "-isystem", cuda_includes(), name + part});
    CHECK_MESSAGE(built.code == 0, built.text);
  }
  const CommandOutput built =
      run_in(folder, {"c++", "-std=c++17", "-fsyntax-only", "-DSOURCE_FOLDER=\".\"", "-isystem",
                      cuda_includes(), name + "_test.cc"});
  CHECK_MESSAGE(built.code == 0, built.text);
}

}  // namespace

TEST_SUITE_BEGIN("export_triton");

TEST_CASE("a run in Triton is exported as Python that is imported without Triton and PyTorch") {
  const TemporaryFolder folder;
  const std::string out = exported_softmax(folder, two_rows(softmax()), "none");
  for (const char* const name : {"triton_softmax.py", "best_kernel.py", "original_kernel.py",
                                 "README.md", "provenance.json"})
    CHECK_MESSAGE(has_file(out, name), name);
  CHECK_FALSE(has_file(out, "triton_softmax.h"));
  write_file(out + "/caller.py", kCaller);
  const CommandOutput ran = run_in(out, {"python3", "-B", "caller.py"});
  REQUIRE_MESSAGE(ran.code == 0, ran.text);
  CHECK(lines_of(ran.text) ==
        std::vector<std::string>{
            "(8192, 1, 1) [('C', 2048), ('COLUMNS', 2048), ('N', 16384), ('ROWS', 2), "
            "('num_warps', 8), ('s', 1.5)]",
            "best ",
            "(100, 1, 1) [('C', 2048), ('COLUMNS', 2048), ('N', 100), ('ROWS', 1), "
            "('num_warps', 4), ('s', 1.5)]",
            "original C, N, s: the kernel is made for other values",
            "(16384, 1, 1) [('C', 2048), ('COLUMNS', 4096), ('N', 16384), ('ROWS', 1), "
            "('num_warps', 4), ('s', 1.5)]",
            "original COLUMNS: the kernel is for another value",
            "o is no dense tensor of torch.float32"});
  const json provenance = json::parse(read_file(fs::path(out) / "provenance.json"));
  for (const auto& [name, hash] : provenance["files"].items())
    CHECK(hash128(read_file(fs::path(out) / name)).hex() == hash.get<std::string>());
}

TEST_CASE("options of the assembler are passed to Triton, which may not know them") {
  const TemporaryFolder folder;
  Variant best = two_rows(softmax());
  best.compiler_options = {"--maxrregcount=64", "--ptxas-options=--register-usage-level=10",
                           "--ptxas-options=--def-load-cache=cg"};
  const std::string out = exported_softmax(folder, best, "none");
  write_file(out + "/caller.py", kCaller);
  for (const bool known : {true, false}) {
    fs::create_directories(fs::path(out) / "triton/backends/nvidia");
    for (const char* const part : {"triton", "triton/backends", "triton/backends/nvidia"})
      write_file(fs::path(out) / part / "__init__.py", "");
    write_file(fs::path(out) / "triton/backends/nvidia/compiler.py",
               "class CUDAOptions:\n    __dataclass_fields__ = " +
                   std::string(known ? "{\"ptx_options\": None}\n" : "{}\n"));
    const CommandOutput ran = run_in(out, {"python3", "-B", "caller.py"});
    REQUIRE_MESSAGE(ran.code == 0, ran.text);
    CHECK(lines_of(ran.text).front() ==
          std::string("(8192, 1, 1) [('C', 2048), ('COLUMNS', 2048), ('N', 16384), ('ROWS', 2), "
                      "('maxnreg', 64), ('num_warps', 8), ") +
              (known ? "('ptx_options', '--register-usage-level=10 --def-load-cache=cg'), " : "") +
              "('s', 1.5)]");
  }
}

TEST_CASE("its machine code has a launcher in C, which knows what it was compiled for") {
  if (std::getenv("WARPATH_PYTHON") == nullptr) {
    MESSAGE("skipped: WARPATH_PYTHON names no Python with Triton");
    return;
  }
  const TemporaryFolder folder;
  const KernelSpec spec = softmax();
  Variant best = baseline_variant(spec);
  best.tunables["num_warps"] = 8;  // the text stays: it is right for any size
  const std::string out = exported_softmax(folder, best, "sm_90a,sm_80");
  for (const std::string code : {"best", "original"}) {
    for (const std::string form : {".sm_90a.cubin", ".sm_90a.ptx", ".sm_80.cubin", ".sm_80.ptx"})
      CHECK_MESSAGE(has_file(out, "code/" + code + form), code, form);
  }
  const std::string plan = read_file(fs::path(out) / "triton_softmax_plan.h");
  CHECK(plan.find("a->N % 16 != 0") != std::string::npos);
  CHECK(plan.find("o is not aligned to 16 bytes") != std::string::npos);
  // what Triton laid out in shared memory
  CHECK(plan.find("g->dynamic_smem_bytes = add(0, ") != std::string::npos);
  // the original takes any N
  CHECK(plan.find("a->N % 16 != 0", plan.find("original_refuses")) == std::string::npos);
  const std::string ptx = read_file(fs::path(out) / "code/original.sm_90a.ptx");
  CHECK(ptx != read_file(fs::path(out) / "code/best.sm_90a.ptx"));
  check_compiles(out, "triton_softmax");
}

TEST_CASE("a run in PTX is exported as machine code with a launcher in C") {
  if (cuda::toolkit_program("ptxas").empty()) {
    MESSAGE("skipped: no ptxas");
    return;
  }
  const KernelSpec spec =
      parse_specs(R"json({"name": "scale", "kernel": {"kernel_type": "ptx", "source_code":
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry scale(.param .u64 p_o, .param .u64 p_x, .param .u32 p_n)\n{\n  .reg .b64 %rd<4>;\n  .reg .b32 %r<4>;\n  ld.param.u64 %rd1, [p_o];\n  mov.u32 %r1, BLOCK;\n  st.global.u32 [%rd1], %r1;\n  ret;\n}\n",
        "metadata": {"kernel_name": "scale"}, "io": {"args": [
        {"name": "o", "type": "tensor", "role": "output", "tensor_spec": {"shape": ["n"], "dtype": "float32"}},
        {"name": "x", "type": "tensor", "tensor_spec": {"shape": ["n"], "dtype": "float32", "init": {"kind": "randn"}}},
        {"name": "n", "type": "int", "value": 1000}],
       "launch": {"grid": {"x": "ceil_div(n, BLOCK)"}, "block": {"x": "BLOCK"}}}},
      "tunables": [{"name": "BLOCK", "values": [64, 128], "default": 128}],
      "reference": {"host_op": {"op": "elementwise", "operands": {"x": "x", "out": "o"}}}})json",
                  "scale.json", ".")
          .front();
  Variant best = baseline_variant(spec);
  best.tunables["BLOCK"] = 64;
  const TemporaryFolder folder;
  test::record_gpu_run(folder / "run", spec, best);
  const ProgramResult none =
      run_program({"export", folder / "run", folder / "out", "--arch", "none"});
  CHECK(none.code == 64);
  CHECK(lines_of(none.err).size() == 1);
  const ProgramResult made = run_program({"export", folder / "run", folder / "out"});
  REQUIRE_MESSAGE(made.code == 0, made.err);
  const std::string out = folder / "out";
  for (const char* const name :
       {"best_kernel.ptx", "code/best.sm_90a.cubin", "code/best.sm_90a.ptx", "scale.h"})
    CHECK_MESSAGE(has_file(out, name), name);
  CHECK_FALSE(has_file(out, "scale.py"));
  CHECK(read_file(fs::path(out) / "code/best.sm_90a.ptx").find("mov.u32 %r1, 64;") !=
        std::string::npos);
  check_compiles(out, "scale");

  fs::create_directory(folder / "app");
  write_file(folder / "app/scale.ptx", spec.source);
  write_file(folder / "project.json", json{{"root", "app"},
                                           {"target_file", "scale.ptx"},
                                           {"build_command", "true"},
                                           {"test_command", "true"},
                                           {"benchmark_command", "true"}}
                                          .dump());
  const ProgramResult deployed =
      run_program({"deploy", folder / "run", "--project", folder / "project.json"});
  CHECK(deployed.code == 64);
  CHECK(lines_of(deployed.err).size() == 1);
  CHECK(deployed.err.find("a run whose kernels are PTX") != std::string::npos);
}

TEST_CASE("a run in Triton is no solution for benchmarks of CUDA C++: one line says so") {
  const TemporaryFolder folder;
  test::record_gpu_run(folder / "run", softmax(), two_rows(softmax()));
  const std::string data = (source_root() / "tests/data/exchange").string();
  const ProgramResult refused =
      run_program({"export", folder / "run", folder / "new", "--as", "kernelbench", "--definition",
                   data + "/definition.json", "--workloads", data + "/workloads.jsonl"});
  CHECK(refused.code == 64);
  CHECK(lines_of(refused.err).size() == 1);
  CHECK(refused.err.find("not CUDA C++") != std::string::npos);
  CHECK_FALSE(fs::exists(folder / "new"));
}

TEST_SUITE_END();
