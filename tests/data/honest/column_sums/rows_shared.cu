// ROWS rows a block side by side; their sums meet in shared memory, one after the other or, if TREE, by halves.
extern "C" __global__ void column_sums(const float* x, float* out, int N, int C) {
  __shared__ float part[ROWS][32];
  const int c = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  if (c < C)
    for (int i = threadIdx.y; i < N; i += ROWS) sum += x[(size_t)i * C + c];
  part[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
#if TREE
  for (int half = ROWS / 2; half > 0; half /= 2) {
    if (threadIdx.y < half) part[threadIdx.y][threadIdx.x] += part[threadIdx.y + half][threadIdx.x];
    __syncthreads();
  }
  if (threadIdx.y == 0 && c < C) out[c] = part[0][threadIdx.x];
#else
  if (threadIdx.y > 0 || c >= C) return;
  for (int k = 1; k < ROWS; ++k) sum += part[k][threadIdx.x];
  out[c] = sum;
#endif
}
