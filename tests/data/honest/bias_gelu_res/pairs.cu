#include <cuda_bf16.h>
// Two elements a thread, loaded as one word where addresses allow it.
__device__ float gelu(float a) { return 0.5f * a + 0.5f * a * tanhf(0.79788456f * fmaf(0.044715f * a * a, a, a)); }
extern "C" __global__ void bias_gelu_res(__nv_bfloat16* o, const __nv_bfloat16* x, const float* b, const __nv_bfloat16* r, long long n, int C) {
  const long long i = 2 * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 1 < n) {
    const float2 p = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(x + i));
    const float2 q = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(r + i));
    const int c = (int)(i % C), d = c + 1 < C ? c + 1 : 0;
    *reinterpret_cast<__nv_bfloat162*>(o + i) = __floats2bfloat162_rn(gelu(p.x + b[c]) + q.x, gelu(p.y + b[d]) + q.y);
  } else if (i < n) {
    o[i] = __float2bfloat16(gelu(__bfloat162float(x[i]) + b[i % C]) + __bfloat162float(r[i]));
  }
}
