// Lines that are used once leave the cache first.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) __stcs(out + i, a * __ldcs(x + i) + __ldcs(y + i));
}
