// Sums of the end of one and the begin of the next piece of 32 (van Herk 1992): nothing is subtracted.
extern "C" __global__ void window_sums(const float* x, float* y, int R) {
  __shared__ float up[512], down[512];
  const int r = blockIdx.x, t = threadIdx.x;
  if (t < 16) {
    float sum = 0;
    for (int k = 0; k < 32; ++k) up[t * 32 + k] = sum += x[r * 512 + t * 32 + k];
    sum = 0;
    for (int k = 31; k >= 0; --k) down[t * 32 + k] = sum += x[r * 512 + t * 32 + k];
  }
  __syncthreads();
  for (int i = t; i < 481; i += 128) y[r * 481 + i] = i % 32 == 0 ? down[i] : down[i] + up[i + 31];
}
