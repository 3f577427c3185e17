// The listings beside this file: nvcc -arch=ARCH -cubin probe.cu (13.0), then nvdisasm -c (13.1) to ARCH.nvdisasm and cuobjdump -sass to
// ARCH.cuobjdump; NOPs and empty lines taken out.
#include <cuda_fp16.h>
extern "C" __global__ void plain(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 1.5f;
#pragma unroll 1
  for (int k = 0; k < n; ++k) s = fmaf(s, x[k * 7 + i], 0.25f);
  y[i] = s;
}
extern "C" __global__ void halves(__half2* y, const __half2* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma2(x[i], x[i], x[i]);
}
extern "C" __global__ void asynchronous(float4* y, const float4* x) {
  __shared__ float4 tile[128];
  unsigned to = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(x + threadIdx.x));
  asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;\n");
  __syncthreads();
  y[threadIdx.x] = tile[127 - threadIdx.x];
}
extern "C" __global__ void reduced(unsigned* y, const unsigned* x) {
  unsigned v = __reduce_add_sync(0xffffffffu, x[threadIdx.x]);
  int any = __syncthreads_or((int)v);
  if (threadIdx.x == 0) y[0] = v + any;
}
extern "C" __global__ void atomics(float* y, const float* x) { atomicAdd(y, x[threadIdx.x]); }
extern "C" __global__ void wide(float4* y, const float4* __restrict__ x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __ldg(x + i);
}
extern "C" __global__ void nest(float* y, const float* x, int n, int m) {
  float s = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    float t = x[i];
#pragma unroll 1
    for (int j = 0; j < m; ++j) t += __shfl_xor_sync(~0u, x[i * m + j], 1);
    s += t;
  }
  y[threadIdx.x] = s;
}
