// The C++ around the arithmetic.
#include <cuda_runtime.h>
#include <type_traits>
#include <cassert>
#include <cstdio>

__constant__ float kWeights[3] = {0.25f, 0.5f, 0.25f};
__device__ const int kPrimes[] = {2, 3, 5, 7};
constexpr int square(int x) { return x * x; }
enum class Mode { plain, doubled };

template <typename T, int N, Mode M = Mode::plain>
__global__ void row_sum(const T* __restrict__ x, T* __restrict__ out, const int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  T sum = 0;
#pragma unroll (N)
  for (int i = 0; i < N; ++i) sum += x[row * N + i];
  if constexpr (M == Mode::doubled) sum *= 2;
  out[row] = sum;
}

struct Accumulator {
  float total = 0.0f;
  __host__ __device__ __forceinline__ void add(float v) { total += v; }
};

namespace inner {
static __device__ __noinline__ float apply(Accumulator* a, float v) {
  a->add(v);
  return a->total;
}
}  // namespace inner

__global__ void smooth(const float* in, float* out, int n, bool wrap) {
  const auto clamp = [=](int i) { return wrap ? (i + n) % n : min(max(i, 0), n - 1); };
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    Accumulator a;
    for (int k = -1; k <= 1; ++k) inner::apply(&a, kWeights[k + 1] * in[clamp(i + k)]);
    assert(n > 0);
    if (i == 0) printf("n = %d\n", n);
    out[i] = a.total + kPrimes[i % 4] + square(2) + (std::is_same<float, float>::value ? 1 : 0);
  }
}

#define LOOP \
  for (int i = 0; i < 4; ++i)
extern "C" __global__ void scalars(double d, float f, long long l, unsigned char c, bool b, short s, double* out) {
  double sum = 0;
  LOOP sum += d;  /* a comment
  over two lines */ sum += 1000;
  out[0] = sum + f + l + c + b + s;
  out[1] = BLOCK + warpSize + sizeof(dim3);
  int bits = 0;
  memcpy(&bits, &f, sizeof bits);
  out[2] = std::max(bits, 0);
}
