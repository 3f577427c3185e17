// half and bfloat16.
#include <cuda_fp16.h>
#include <cuda_bf16.h>

extern "C" __global__ void half_arithmetic(const __half* a, const __half* b, const __half* c, __half* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = __hadd(a[i], b[i]);
  out[n + i] = a[i] * b[i];
  out[2 * n + i] = __hdiv(a[i], b[i]);
  out[3 * n + i] = __hfma(a[i], b[i], c[i]);
}
extern "C" __global__ void bfloat16_arithmetic(const __nv_bfloat16* a, const __nv_bfloat16* b, const __nv_bfloat16* c,
                                               __nv_bfloat16* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = a[i] + b[i];
  out[n + i] = __hmul(a[i], b[i]);
  out[2 * n + i] = a[i] - b[i];
  out[3 * n + i] = __hfma(a[i], b[i], c[i]);
}
extern "C" __global__ void float_to_half(const float* in, __half* out, __nv_bfloat16* brain, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2half_rn(in[i]), brain[i] = __float2bfloat16(in[i]);
}
extern "C" __global__ void every_half_to_float(float* out, float* brain) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __half2float(__ushort_as_half((unsigned short)i));
  brain[i] = __bfloat162float(__ushort_as_bfloat16((unsigned short)i));
}
// Eight halves a load, pairs in the arithmetic.
extern "C" __global__ void packed_pairs(const half* x, const half* y, half* out, int n) {
  const int i = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const uint4 a = *reinterpret_cast<const uint4*>(x + i), b = *reinterpret_cast<const uint4*>(y + i);
  const half2 *pa = reinterpret_cast<const half2*>(&a), *pb = reinterpret_cast<const half2*>(&b);
  uint4 r;
  half2* const pr = reinterpret_cast<half2*>(&r);
#pragma unroll
  for (int k = 0; k < 4; ++k) pr[k] = __hfma2(pa[k], pb[k], __float2half2_rn(1.0f));
  *reinterpret_cast<uint4*>(out + i) = r;
}
