// 32 neighbouring columns a block, 32 rows at a time: a warp reads a piece of a row.
extern "C" __global__ void __launch_bounds__(1024)
    column_norms(float* __restrict__ norms, const float* __restrict__ a, int rows, int cols) {
  __shared__ float partial[32][33];
  const int col = blockIdx.x * 32 + threadIdx.x;
  float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
  if (col < cols) {
    int r = threadIdx.y;
    for (; r + 96 < rows; r += 128) {
      const float* p = a + (long long)r * cols + col;
      const float v0 = p[0], v1 = p[32ll * cols], v2 = p[64ll * cols], v3 = p[96ll * cols];
      s0 += v0 * v0, s1 += v1 * v1, s2 += v2 * v2, s3 += v3 * v3;
    }
    for (; r < rows; r += 32) {
      const float v = a[(long long)r * cols + col];
      s0 += v * v;
    }
  }
  partial[threadIdx.y][threadIdx.x] = (s0 + s1) + (s2 + s3);
  __syncthreads();
  float sum = partial[threadIdx.x][threadIdx.y];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  const int mine = blockIdx.x * 32 + threadIdx.y;
  if (threadIdx.x == 0 && mine < cols) norms[mine] = sqrtf(sum);
}
