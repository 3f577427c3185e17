// The last warp's steps, each with a barrier of the warp between reading and writing.
extern "C" __global__ void rowsum(const float* x, float* out, int N, int C) {
  __shared__ float sums[256];
  const int t = threadIdx.x;
  float sum = 0;
  for (int j = t; j < C; j += 256) sum += x[static_cast<long long>(blockIdx.x) * C + j];
  sums[t] = sum;
  __syncthreads();
  for (int half = 128; half >= 32; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  if (t >= 32) return;
  for (int half = 16; half > 0; half /= 2) {
    const float other = sums[t + half];
    __syncwarp();
    sums[t] += other;
    __syncwarp();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}
