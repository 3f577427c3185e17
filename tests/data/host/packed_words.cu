// Integers of 8 and 16 bits in words, comparisons of pairs of halves, indexes as vectors, inverse error functions.
#include <cuda_fp16.h>

extern "C" __global__ void packed_words(const unsigned* x, const unsigned* y, unsigned* out, int n) {
  const uint3 thread = threadIdx;
  const dim3 block = blockDim;
  const int t = blockIdx.x * block.x + thread.x;
  const unsigned a = x[t], b = y[t];
  unsigned* o = out + t;
  *o = __vadd4(a, b), o += n;
  *o = __vsubus4(a, b), o += n;
  *o = __vmaxu4(a, b), o += n;
  *o = __vcmpgts4(a, b), o += n;
  *o = __vabsdiffu4(a, b), o += n;
  *o = __vaddss2(a, b), o += n;
  *o = __vmins2(a, b), o += n;
  *o = __vsetgeu2(a, b), o += n;
  *o = __vsadu4(a, b), o += n;
  *o = static_cast<unsigned>(__vimax3_s32(static_cast<int>(a), static_cast<int>(b), 0));
}
extern "C" __global__ void pair_comparisons(const half2* x, const half2* y, unsigned* out, int n) {
  const int t = threadIdx.x;
  const half2 a = x[t], b = y[t], less = __hlt2(a, b);
  out[t] = __hgt2_mask(a, b);
  out[n + t] = (__low2float(less) == 1.0f ? 1u : 0u) | (__high2float(less) == 1.0f ? 2u : 0u);
  out[2 * n + t] = __hbge2(a, b);
  out[3 * n + t] = __hisnan(__hmax_nan(a.x, b.x)) | __hisnan(__hmax(a.x, b.x)) << 1;
}
extern "C" __global__ void inverse_functions(const float* x, float* out, int n) {
  const int t = threadIdx.x;
  out[t] = erff(erfinvf(x[t]));
  out[n + t] = erfcf(erfcinvf(1.0f - x[t]));
  out[2 * n + t] = normcdff(normcdfinvf(0.5f + 0.5f * x[t]));
}
