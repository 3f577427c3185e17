// Sums of 2, 4, 8, 16 and 32.
extern "C" __global__ void window_sums(const float* x, float* y, int R) {
  __shared__ float s[2][512];
  const int r = blockIdx.x, t = threadIdx.x;
  for (int i = t; i < 512; i += 128) s[0][i] = x[r * 512 + i];
  __syncthreads();
  int from = 0;
  for (int w = 1; w < 32; w *= 2, from = 1 - from) {
    for (int i = t; i + 2 * w <= 512; i += 128) s[1 - from][i] = s[from][i] + s[from][i + w];
    __syncthreads();
  }
  for (int i = t; i < 481; i += 128) y[r * 481 + i] = s[from][i];
}
