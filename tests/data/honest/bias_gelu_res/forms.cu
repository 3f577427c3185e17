#include <cuda_bf16.h>
// Other forms of tanh: by the exponential (FORM 1), as a logistic function (2), by the hardware's exponential and quotient (3).
extern "C" __global__ void bias_gelu_res(__nv_bfloat16* o, const __nv_bfloat16* x, const float* b, const __nv_bfloat16* r, long long n, int C) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    const float a = __bfloat162float(x[i]) + b[i % C];
    const float u = a * (0.7978845608f + 0.0356774081f * (a * a));
#if FORM == 1
    const float gelu = 0.5f * a * (2.0f - 2.0f / (1.0f + expf(2.0f * u)));
#elif FORM == 2
    const float gelu = a / (1.0f + exp2f(-2.8853900817779268f * u));
#else
    const float gelu = a * (1.0f - __fdividef(1.0f, 1.0f + __expf(2.0f * u)));
#endif
    o[i] = __float2bfloat16(gelu + __bfloat162float(r[i]));
  }
}
