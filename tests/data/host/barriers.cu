// Block-wide barriers and shared memory, static and dynamic.
#include <cuda_runtime.h>

extern "C" __global__ void reverse_block(const int* in, int* out) {
  __shared__ int tile[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = tile[blockDim.x - 1 - threadIdx.x];
}

// Tree reduction in dynamic shared memory.
extern "C" __global__ void block_sum(const float* in, float* out, int n) {
  extern __shared__ __align__(16) float partial[];
  const int t = threadIdx.x;
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  partial[t] = sum;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (t < step) partial[t] += partial[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = partial[0];
}

extern "C" __global__ void predicates(const int* in, int* out) {
  const int p = in[threadIdx.x];
  const int all = __syncthreads_and(p > 0), any = __syncthreads_or(p > 5), count = __syncthreads_count(p % 2);
  out[threadIdx.x] = all * 10000 + any * 1000 + count;
}

// Two-dimensional tiles with padding, three-dimensional thread indices.
extern "C" __global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[8][8 + 1];
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * 8 + threadIdx.x;
  y = blockIdx.x * 8 + threadIdx.y;
  if (x < n && y < n) out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void indices(int* out) {
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * (blockDim.x * blockDim.y * blockDim.z) + thread] =
      threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.x + 10000 * blockIdx.y + 100000 * blockIdx.z;
}

extern __shared__ double arena[];  // at namespace scope, of another type in each use
extern "C" __global__ void carved_arena(const int* in, int* out) {
  int* const ints = (int*)arena;
  float* const floats = reinterpret_cast<float*>(&ints[blockDim.x]);
  ints[threadIdx.x] = in[threadIdx.x];
  floats[threadIdx.x] = 0.5f * in[threadIdx.x];
  __syncthreads();
  const int other = (threadIdx.x + 1) % blockDim.x;
  out[threadIdx.x] = ints[other] + int(2.0f * floats[other]);
}

// With extents of its own: the launch sets the size all the same.
extern "C" __global__ void sized_arena(const int* in, int* out) {
  extern __shared__ int rows[4 * (1 + 1)][8];
  rows[threadIdx.x / 8][threadIdx.x % 8] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = rows[threadIdx.x % 8][threadIdx.x / 8];
}

// A barrier in a loop that all threads leave together, inside a device function.
__device__ int scan_step(int* s, int t, int d) {
  const int v = t >= d ? s[t - d] : 0;
  __syncthreads();
  s[t] += v;
  __syncthreads();
  return s[t];
}
extern "C" __global__ void __launch_bounds__(128, 2) inclusive_scan(const int* in, int* out) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) scan_step(s, t, d);
  out[t] = s[t];
}
