#include "tests/experiments/ship/exported.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "engine/spec/spec_load.h"
#include "runners/cuda/driver/toolkit_program.h"
#include "runners/worker/process.h"

namespace warpath::testing {

ManySided many_sided() {
  constexpr const char* kSpec = R"json({
    "name": "row-sums.v2",
    "kernel": {
      "source_code": "extern \"C\" __global__ void row_sums(float* y, const float* __restrict__ x, float scale, int rows, long long cols, bool negate) {\n  int i = blockIdx.x * BLOCK + threadIdx.x;\n  if (i >= rows) return;\n  float sum = 0;\n  for (long long j = 0; j < cols; j++) sum += x[i * cols + j];\n  y[i] = (negate ? -scale : scale) * sum * MODE;\n}\n",
      "metadata": {"kernel_name": "row_sums"},
      "io": {
        "args": [
          {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": ["rows"], "dtype": "float32"}},
          {"name": "x", "type": "tensor", "role": "input", "tensor_spec": {"shape": ["rows", "cols"], "dtype": "float32", "init": {"kind": "randn", "seed": 3}}},
          {"name": "scale", "type": "float", "value": 0.5},
          {"name": "rows", "type": "int", "value": 1000},
          {"name": "cols", "type": "int", "dtype": "int64", "value": 64},
          {"name": "negate", "type": "bool", "value": true},
          {"name": "MODE", "type": "int", "value": 3, "is_meta": true},
          {"name": "depth", "type": "int", "value": 2, "is_meta": true, "is_size": true}
        ],
        "launch": {"grid": {"x": "ceil_div(rows, BLOCK)", "y": "cols > 1000 and not negate ? 2 : 1"}, "block": {"x": "BLOCK"}, "dynamic_smem_bytes": "4 * BLOCK"}
      },
      "workloads": [{"name": "wide", "target": "gpu"}, {"name": "host", "target": "host", "scalars": {"rows": 10}}]
    },
    "tunables": [{"name": "BLOCK", "values": [64, 128, 256], "default": 128}],
    "constraints": ["cols % 4 == 0"],
    "reference": {"host_op": {"op": "reduce_sum", "operands": {"x": "x", "out": "y"}}}
  })json";
  ManySided out;
  out.spec = parse_specs(kSpec, "many_sided.json", "", false).front();
  out.best = baseline_variant(out.spec);
  out.best.source =
      R"cuda(extern "C" __global__ void __launch_bounds__(BLOCK) row_sums(float* __restrict__ y, const float* __restrict__ x, float scale, int rows, long long cols, bool negate, float* partial, unsigned char* spare) {
  extern __shared__ float shared[];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= rows) return;
  shared[threadIdx.x] = 0;
  for (long long j = 0; j < cols; j += 4) {
    const float4 v = *reinterpret_cast<const float4*>(x + i * cols + j);
    shared[threadIdx.x] += v.x + v.y + v.z + v.w;
  }
  partial[i] = (negate ? -scale : scale) * shared[threadIdx.x] * MODE;
}
extern "C" __global__ void finish(float* y, const float* partial, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) y[i] += partial[i];
}
)cuda";
  const auto expression = [](const char* text) { return Expression::parse(text, "test"); };
  out.best.tunables["BLOCK"] = 256;
  out.best.launch.grid = {expression("align_up(min(ceil_div(rows, BLOCK), 132 * depth), 2)"),
                          expression("max(1, cols / 1024)"), Expression(1)};
  out.best.launch.cluster = {Expression(2), Expression(1), Expression(1)};
  out.best.launch.dynamic_smem_bytes = expression("65536 + 16 * BLOCK");
  out.best.scratch = {{"partial", expression("4 * rows")}, {"spare", expression("rows + 100")}};
  out.best.before = {{LaunchStep::Kind::zero, "", {}, {"y", "partial"}}};
  LaunchPlan finish;
  finish.grid[0] = expression("ceil_div(rows, 64)");
  finish.block[0] = Expression(64);
  out.best.after = {{LaunchStep::Kind::kernel, "finish", finish, {"y", "partial", "rows"}}};
  return out;
}

CommandOutput run_in(const std::string& folder, const std::vector<std::string>& argv) {
  ProcessSpec spec;
  spec.argv = argv;
  for (char** variable = environ; *variable != nullptr; ++variable)
    spec.environment.emplace_back(*variable);
  spec.directory = folder;
  const ProcessResult result = run_process(spec, std::chrono::seconds(200), 1 << 20);
  return {result.end == ProcessEnd::exited ? result.code : -1, result.output};
}

std::string nvcc() {
  return cuda::toolkit_program("nvcc");
}

std::string cuda_includes() {
  namespace fs = std::filesystem;
  return (fs::path(nvcc()).parent_path().parent_path() / "include").string();
}

}  // namespace warpath::testing
