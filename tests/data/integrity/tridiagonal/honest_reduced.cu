// Cyclic reduction, seven times.
extern "C" __global__ void tridiagonal(const float* a, const float* b, const float* c, const float* f, float* x, int S) {
  __shared__ float sa[128], sb[128], sc[128], sf[128];
  const int i = threadIdx.x;
  const long long at = blockIdx.x * 128ll + i;
  float pa = i > 0 ? a[at] : 0.0f, pb = b[at], pc = i < 127 ? c[at] : 0.0f, pf = f[at];
  for (int stride = 1; stride < 128; stride *= 2) {
    sa[i] = pa, sb[i] = pb, sc[i] = pc, sf[i] = pf;
    __syncthreads();
    const float low = i >= stride ? -pa / sb[i - stride] : 0.0f, high = i + stride < 128 ? -pc / sb[i + stride] : 0.0f;
    pa = 0, pc = 0;
    if (i >= stride) pa = low * sa[i - stride], pb += low * sc[i - stride], pf += low * sf[i - stride];
    if (i + stride < 128) pc = high * sc[i + stride], pb += high * sa[i + stride], pf += high * sf[i + stride];
    __syncthreads();
  }
  x[at] = pf / pb;
}
