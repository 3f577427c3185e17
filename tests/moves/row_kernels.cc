#include "tests/moves/row_kernels.h"

#include "engine/error.h"

namespace warpath::test {
namespace {

ArgSpec tensor(const std::string& name, ArgRole role, const char* shape, DType dtype = DType::f32) {
  ArgSpec arg;
  arg.name = name;
  arg.role = role;
  arg.tensor.emplace();
  arg.tensor->shape = {Expression::parse(shape, "test")};
  arg.tensor->dtype = dtype;
  arg.tensor->alignment_bytes = 16;
  InitRule init;
  if (dtype == DType::i32) init.kind = InitRule::Kind::randint, init.low = Expression(-9), init.high = Expression(10);
  if (role != ArgRole::output) arg.tensor->content = init;
  return arg;
}

ArgSpec integer(const std::string& name, std::int64_t value) {
  ArgSpec arg;
  arg.name = name;
  arg.type = ArgType::integer;
  arg.role = ArgRole::scalar;
  arg.value = value;
  return arg;
}

/// o, x: [N, C] (or what `shape` says); one thread a row in blocks of 64 unless `block` threads take one row.
KernelSpec kernel(const std::string& name, const std::string& source, std::int64_t columns, std::int64_t block = 0,
                  const char* output = "N * C", DType dtype = DType::f32) {
  KernelSpec spec;
  spec.name = name;
  spec.origin = name;
  spec.source = source;
  spec.kernel_name = name;
  spec.io.args = {tensor("o", ArgRole::output, output, dtype), tensor("x", ArgRole::input, "N * C", dtype),
                  tensor("w", ArgRole::input, "C", dtype), integer("N", 37), integer("C", columns)};
  spec.io.launch.grid[0] = Expression::parse(block > 0 ? "N" : "ceil_div(N, 64)", "test");
  spec.io.launch.block[0] = Expression(block > 0 ? block : 64);
  ReferenceKernel reference;
  reference.source = source;
  reference.source.insert(source.find(name + "(") + name.size(), "_reference");
  reference.kernel_name = name + "_reference";
  reference.launch = spec.io.launch;
  spec.reference = reference;
  spec.tolerance["o"] = {1e-4, 1e-4, 1e-4};
  Workload workload;
  workload.name = "host";
  spec.workloads = {workload};
  return spec;
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
})", 83));
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
})", 96));
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
})", 70));
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
})", 61, 0, "N * 3", DType::i32));
  // Lanes read what other lanes wrote.
  out.push_back(kernel("mirrored", R"(
extern "C" __global__ void mirrored(float* o, const float* x, const float* w, int N, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  for (int j = 0; j < C / 2; j++) o[i * C + j] = x[i * C + j] * w[j];
  for (int j = C / 2; j < C; j++) o[i * C + j] = o[i * C + (C - 1 - j) / 2] + 1.0f;
})", 90));
  out.push_back(kernel("exclusive_scan", R"(
extern "C" __global__ void exclusive_scan(int* o, const int* x, const int* w, int N, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  int before = w[0];
  for (int j = 0; j < C; j++) {
    o[i * C + j] = before;
    before += x[i * C + j];
  }
})", 203, 0, "N * C", DType::i32));
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
})", 448));
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
})", 400, 128));
  out.push_back(kernel("buckets", R"(
extern "C" __global__ void buckets(float* o, const float* x, const float* w, int N, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float bucket[8];
  for (int k = 0; k < 8; k++) bucket[k] = 0.0f;
  for (int j = 0; j < C; j++) bucket[j % 8] += x[i * C + j];
  for (int k = 0; k < 8; k++) o[i * 8 + k] = bucket[k];
})", 45, 0, "N * 8"));
  return out;
}

KernelSpec row_kernel(const std::string& name) {
  for (KernelSpec& spec : row_kernels()) {
    if (spec.name == name) return spec;
  }
  throw bad_input("row kernel", name, "a name of tests/moves/row_kernels.cc");
}

}  // namespace warpath::test
