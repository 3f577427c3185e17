// A tile in shared memory, its rows one element longer than they need be.
extern "C" __global__ void transposed(const float* x, float* out, int R, int C) {
  __shared__ float tile[32][33];
  const int left = blockIdx.x * 32, top = blockIdx.y * 32;
  for (int j = threadIdx.y; j < 32; j += 8) {
    if (top + j < R && left + threadIdx.x < C)
      tile[j][threadIdx.x] = x[(long long)(top + j) * C + left + threadIdx.x];
  }
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += 8) {
    if (left + j < C && top + threadIdx.x < R)
      out[(long long)(left + j) * R + top + threadIdx.x] = tile[threadIdx.x][j];
  }
}
