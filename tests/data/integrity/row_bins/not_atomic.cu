// Threads of a block read, add and write as three steps.
extern "C" __global__ void row_bins(const unsigned* x, const bool* selected, int* bins, bool* any, int R, int C) {
  __shared__ int s[16];
  __shared__ int seen;
  if (threadIdx.x < 16) s[threadIdx.x] = 0;
  if (threadIdx.x == 0) seen = 0;
  __syncthreads();
  const long long o = (long long)blockIdx.x * C;
  for (int c = threadIdx.x; c < C; c += blockDim.x) {
    if (!selected[o + c]) continue;
    s[x[o + c] >> 28] += 1;
    seen = 1;
  }
  __syncthreads();
  if (threadIdx.x < 16) bins[blockIdx.x * 16 + threadIdx.x] = s[threadIdx.x];
  if (threadIdx.x == 0) any[blockIdx.x] = seen != 0;
}
