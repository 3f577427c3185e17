// Bins of its own for each warp.
extern "C" __global__ void row_bins(const unsigned* x, const bool* selected, int* bins, bool* any, int R, int C) {
  __shared__ int s[4][16];
  if (threadIdx.x < 64) s[threadIdx.x / 16][threadIdx.x % 16] = 0;
  __syncthreads();
  const unsigned* const row = x + (size_t)blockIdx.x * C;
  const bool* const mask = selected + (size_t)blockIdx.x * C;
  bool mine = false;
  for (int c = threadIdx.x; c < C; c += blockDim.x) {
    if (mask[c]) atomicAdd(&s[threadIdx.x / 32][row[c] >> 28], 1);
    mine = mine || mask[c];
  }
  const int found = __syncthreads_or(mine);
  if (threadIdx.x < 16) bins[blockIdx.x * 16 + threadIdx.x] = s[0][threadIdx.x] + s[1][threadIdx.x] + s[2][threadIdx.x] + s[3][threadIdx.x];
  if (threadIdx.x == 0) any[blockIdx.x] = found;
}
