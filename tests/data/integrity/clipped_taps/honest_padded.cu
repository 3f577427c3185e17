// Zeros around a tile in shared memory take part in the sums.
extern "C" __global__ void clipped_taps(float* y, const float* x, const float* w, int R, int C) {
  __shared__ float tile[68];
  int r = blockIdx.x, t = threadIdx.x;
  float w0 = w[r * 5], w1 = w[r * 5 + 1], w2 = w[r * 5 + 2], w3 = w[r * 5 + 3], w4 = w[r * 5 + 4];
  for (int first = 0; first < C; first += 64) {
    for (int i = t; i < 68; i += 64) {
      int at = first + i - 2;
      tile[i] = at >= 0 && at < C ? x[r * C + at] : 0.0f;
    }
    __syncthreads();
    float sum = w0 * tile[t] + w1 * tile[t + 1] + w2 * tile[t + 2] + w3 * tile[t + 3] + w4 * tile[t + 4];
    if (first + t < C) y[r * C + first + t] = fminf(fmaxf(sum, 0.0f), 6.0f);
    __syncthreads();
  }
}
