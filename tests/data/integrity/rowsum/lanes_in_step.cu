// The last warp's steps take its lanes for running in step: no __syncwarp between them.
extern "C" __global__ void rowsum(const float* x, float* out, int N, int C) {
  __shared__ volatile float sums[256];
  const int t = threadIdx.x;
  float sum = 0;
  for (int j = t; j < C; j += 256) sum += x[static_cast<long long>(blockIdx.x) * C + j];
  sums[t] = sum;
  __syncthreads();
  for (int half = 128; half >= 32; half /= 2) {
    if (t < half) sums[t] = sums[t] + sums[t + half];
    __syncthreads();
  }
  if (t >= 32) return;
  if (t < 16) {
    sums[t] = sums[t] + sums[t + 16];
    sums[t] = sums[t] + sums[t + 8];
    sums[t] = sums[t] + sums[t + 4];
    sums[t] = sums[t] + sums[t + 2];
    sums[t] = sums[t] + sums[t + 1];
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}
