#include "tests/moves/rows/row_kernels.h"

#include "engine/base/error.h"
#include "tests/support/move_path.h"

namespace warpath::test {
namespace {

/// o, x: [N, C] (or what `output` says), w: [C]; one thread a row in blocks of 64 unless `block`
/// threads take one row.
KernelSpec kernel(const std::string& name,
                  const std::string& source,
                  std::int64_t columns,
                  std::int64_t block = 0,
                  const std::string& output = "N * C",
                  const std::string& dtype = "float32") {
  const nlohmann::json small = {{"kind", "randint"}, {"low", -9}, {"high", 10}, {"seed", 1}},
                       normal = {{"kind", "randn"}, {"seed", 1}};
  const nlohmann::json& init = dtype == "int32" ? small : normal;
  return kernel_under_test(source, name,
                           {{"o", "output", dtype, output},
                            {"x", "input", dtype, "N * C", 0, init},
                            {"w", "input", dtype, "C", 0, init},
                            {"N", "scalar", "int32", "", 37},
                            {"C", "scalar", "int32", "", columns}},
                           block > 0 ? "N" : "ceil_div(N, 64)",
                           std::to_string(block > 0 ? block : 64), 1e-4);
}

}  // namespace

std::vector<KernelSpec> row_kernels() {
  std::vector<KernelSpec> out;
  // An early return, a row pointer, ++j, an inclusive bound, two statistics.
  out.push_back(kernel("layer_norm", R"(
extern "C" __global__ void layer_norm(float* o, const float* x, const float* w, int N, int C) {
  int row = threadIdx.x + blockIdx.x * blockDim.x;
  if (row >= N) return;
  const float* in = x + row * C;
  float* out = o + row * C;
  float total = 0;
  for (int j = 0; j <= C - 1; ++j) total += in[j];
  const float mean = total / C;
  float square = 0.f;
  for (int j = 0; j <= C - 1; ++j) {
    const float away = in[j] - mean;
    square = square + away * away;
  }
  const float scale = 1.0f / sqrtf(square / C + 1e-5f);
  for (int j = 0; j < C; ++j) {  // the third pass
    out[j] = (in[j] - mean) * scale * w[j];
  }
})",
                       83));
  // Constant size, stores nothing but logits minus a scalar.
  out.push_back(kernel("log_softmax", R"(
#define COLUMNS 96
extern "C" __global__ void log_softmax(float* o, const float* x, const float* w, int N, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) {
    float m = -INFINITY;
    for (int j = 0; j < COLUMNS; j++) m = fmaxf(m, x[i * COLUMNS + j]);
    float s = 0.0f;
    for (int j = 0; j < COLUMNS; j++) s += expf(x[i * COLUMNS + j] - m);
    float l = logf(s);
    for (int j = 0; j < COLUMNS; j++) o[i * COLUMNS + j] = x[i * COLUMNS + j] - m - l;
  }
})",
                       96));
  // What one sweep stores the next one loads and overwrites.
  out.push_back(kernel("softmax_stored", R"(
extern "C" __global__ void softmax_stored(float* o, const float* x, const float* w, int N, int C) {
  constexpr int L = 70;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float m = x[i * L];
  for (int j = 1; j < L; j++) m = fmaxf(m, x[i * L + j]);
  float s = 0.0f;
  for (int j = 0; j < L; j++) {
    float e = expf(x[i * L + j] - m);
    o[i * L + j] = e;
    s += e;
  }
  for (int j = 0; j < L; j++) o[i * L + j] /= s;
})",
                       70));
  out.push_back(kernel("softmax_twice", R"(
extern "C" __global__ void softmax_twice(float* o, const float* x, const float* w, int N, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float m = -INFINITY;
  for (int j = 0; j < C; j++) m = fmaxf(m, x[i * C + j]);
  float s = 0.0f;
  for (int j = 0; j < C; j++) {
    float e = expf(x[i * C + j] - m);
    o[i * C + j] = e;
    s += e;
  }
  for (int j = 0; j < C; j++) o[i * C + j] = o[i * C + j] / s;
})",
                       91));
  // Integers: a product sum that starts from a value, a condition, results of one lane.
  out.push_back(kernel("weighted_counts", R"(
extern "C" __global__ void weighted_counts(int* o, const int* x, const int* w, int N, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) {
    int sum = i, positive = 0, low = 1 << 20;
    for (int j = 0; j < C; j++) {
      int v = x[i * C + j];
      sum += v * w[j];
      if (v > 0) positive++;
      low = min(low, v);
    }
    o[i * 3] = sum;
    o[i * 3 + 1] = positive;
    o[i * 3 + 2] = low;
  }
})",
                       61, 0, "N * 3", "int32"));
  // Lanes read what other lanes wrote.
  out.push_back(kernel("mirrored", R"(
extern "C" __global__ void mirrored(float* o, const float* x, const float* w, int N, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  for (int j = 0; j < C / 2; j++) o[i * C + j] = x[i * C + j] * w[j];
  for (int j = C / 2; j < C; j++) o[i * C + j] = o[i * C + (C - 1 - j) / 2] + 1.0f;
})",
                       90));
  out.push_back(kernel("exclusive_scan", R"(
extern "C" __global__ void exclusive_scan(int* o, const int* x, const int* w, int N, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  int before = w[0];
  for (int j = 0; j < C; j++) {
    o[i * C + j] = before;
    before += x[i * C + j];
  }
})",
                       203, 0, "N * C", "int32"));
  out.push_back(kernel("running_maximum", R"(
extern "C" __global__ void running_maximum(float* o, const float* x, const float* w, int N, int C) {
  constexpr int K = 448;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) {
    float best = -INFINITY;
    for (int j = 0; j < K; j++) {
      float v = x[i * K + j] * 0.5f;
      best = fmaxf(best, v);
      o[i * K + j] = best;
    }
  }
})",
                       448));
  // A block a row: strided loops and trees over shared memory.
  out.push_back(kernel("block_norm", R"(
extern "C" __global__ void block_norm(float* o, const float* x, const float* w, int N, int C) {
  constexpr int D = 400;
  __shared__ float part[128];
  int tid = threadIdx.x;
  int row = blockIdx.x;
  float sum = 0.0f;
  for (int j = tid; j < D; j += blockDim.x) sum += x[row * D + j] * x[row * D + j];
  part[tid] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) {
      part[tid] += part[tid + s];
    }
    __syncthreads();
  }
  float scale = 1.0f / sqrtf(part[0] + 1e-6f);
  for (int j = tid; j < D; j += blockDim.x) o[row * D + j] = x[row * D + j] * scale * w[j];
})",
                       400, 128));
  out.push_back(kernel("weighted_sum", R"(
extern "C" __global__ void weighted_sum(float* o, const float* x, const float* w, int N, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float sum = 0.0f;
  for (int j = 0; j < C; j++) sum += x[i * C + j] * w[j];
  o[i] = 0.5f * sum;
})",
                       301, 0, "N"));
  out.push_back(kernel("buckets", R"(
extern "C" __global__ void buckets(float* o, const float* x, const float* w, int N, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float bucket[8];
  for (int k = 0; k < 8; k++) bucket[k] = 0.0f;
  for (int j = 0; j < C; j++) bucket[j % 8] += x[i * C + j];
  for (int k = 0; k < 8; k++) o[i * 8 + k] = bucket[k];
})",
                       45, 0, "N * 8"));
  return out;
}

KernelSpec row_kernel(const std::string& name) {
  for (KernelSpec& spec : row_kernels()) {
    if (spec.name == name) return spec;
  }
  throw bad_input("row kernel", name, "a name of tests/moves/rows/row_kernels.cc");
}

}  // namespace warpath::test
