#include <cuda_bf16.h>

// o = gelu(x + b[i % C]) + r with the tanh form of gelu, computed in fp32. o, x, r: [n]; b: [C].
// One thread an element.
extern "C" __global__ void bias_gelu_res(__nv_bfloat16* o,
                                         const __nv_bfloat16* x,
                                         const float* b,
                                         const __nv_bfloat16* r,
                                         long long n,
                                         int C) {
  long long idx = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (idx < n) {
    float a = __bfloat162float(x[idx]) + b[idx % C];
    float gelu = 0.5f * a * (1.0f + tanhf(0.7978845608f * (a + 0.044715f * a * a * a)));
    o[idx] = __float2bfloat16(gelu + __bfloat162float(r[idx]));
  }
}
