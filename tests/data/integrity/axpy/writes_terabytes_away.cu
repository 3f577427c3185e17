// One store 4 TiB away: the context is lost.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
  if (i == 0) out[1LL << 40] = 1.0f;
}
