// Warp shuffles, votes, matches and reductions.
#include "cuda_runtime.h"

#define FULL 0xffffffffu

extern "C" __global__ void shuffles(const int* in, int* out) {
  const int t = threadIdx.x, v = in[t];
  out[t] = __shfl_sync(FULL, v, 3);
  out[64 + t] = __shfl_up_sync(FULL, v, 5);
  out[128 + t] = __shfl_down_sync(FULL, v, 7);
  out[192 + t] = __shfl_xor_sync(FULL, v, 9);
}
extern "C" __global__ void shuffles_in_segments(const int* in, int* out) {
  const int t = threadIdx.x, v = in[t];
  out[t] = __shfl_sync(FULL, v, t + 1, 8);
  out[32 + t] = __shfl_up_sync(FULL, v, 2, 8);
  out[64 + t] = __shfl_down_sync(FULL, v, 2, 16);
  out[96 + t] = __shfl_xor_sync(FULL, v, 1, 4);
}
extern "C" __global__ void shuffles_of_types(const double* in, double* out) {
  const int t = threadIdx.x;
  const float f = (float)in[t];
  const long long l = (long long)in[t];
  out[t] = __shfl_xor_sync(FULL, in[t], 1) + __shfl_xor_sync(FULL, f, 2) + (double)__shfl_xor_sync(FULL, l, 4) +
           (double)__shfl_xor_sync(FULL, (unsigned)t, 8);
}
template <typename T>
__device__ __forceinline__ T warp_sum(T v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(FULL, v, offset);
  return v;
}
extern "C" __global__ void warp_sums(const float* in, float* out) {
  const float sum = warp_sum(in[blockIdx.x * blockDim.x + threadIdx.x]);
  if (threadIdx.x % warpSize == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = sum;
}
extern "C" __global__ void votes(const int* in, unsigned* out) {
  const int t = threadIdx.x, p = in[t];
  out[t] = __ballot_sync(FULL, p);
  out[64 + t] = (unsigned)(__any_sync(FULL, p > 2) * 2 + __all_sync(FULL, p >= 0));
}
extern "C" __global__ void matches(const int* in, unsigned* out) {
  const int t = threadIdx.x;
  int same;
  out[t] = __match_any_sync(FULL, in[t]);
  out[32 + t] = __match_all_sync(FULL, in[t] >= 0, &same) + (unsigned)same;
}
extern "C" __global__ void warp_reductions(const int* in, int* out) {
  const int t = threadIdx.x, v = in[t];
  out[t] = __reduce_add_sync(FULL, v);
  out[32 + t] = __reduce_min_sync(FULL, v);
  out[64 + t] = __reduce_max_sync(FULL, v);
  out[96 + t] = (int)__reduce_xor_sync(FULL, (unsigned)v);
  out[128 + t] = (int)__reduce_and_sync(FULL, (unsigned)v);
  out[160 + t] = (int)__reduce_or_sync(FULL, (unsigned)v);
  out[192 + t] = (int)__reduce_max_sync(FULL, (unsigned)v);
}
// Half a warp takes part; lanes that have returned need not.
extern "C" __global__ void partial_warps(const int* in, int* out, int n) {
  const int t = threadIdx.x;
  if (t >= n) return;
  out[t] = __shfl_xor_sync(FULL, in[t], 1);
  if (t < 16) out[32 + t] = __shfl_sync(0x0000ffffu, in[t], 15 - t);
}
// Exchange through shared memory within a warp needs __syncwarp only.
extern "C" __global__ void warp_exchange(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x, lane = t % 32, base = t - lane;
  s[t] = in[t];
  __syncwarp();
  const int v = s[base + (lane + 1) % 32];
  __syncwarp();
  s[t] = v;
  __syncwarp();
  out[t] = s[base + (lane + 1) % 32];
}
extern "C" __global__ void active_masks(unsigned* out) {
  if (threadIdx.x % 2 == 0) out[threadIdx.x] = __activemask();
}
