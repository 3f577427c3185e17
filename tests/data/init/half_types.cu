#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void add_half(const __half* a, const half* b, __half* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = __hadd(a[i], b[i]);
}
__global__ void widen(const __nv_bfloat16* a, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = __bfloat162float(a[i]);
}
