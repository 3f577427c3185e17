// Threads of a block wait for one another where a guard holds: the host code gives whole blocks.
__global__ void tail_sums(const float* x, float* y, int rows, int n) {
  __shared__ float part[8][32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = 0;
    for (int r = threadIdx.y; r < rows; r += blockDim.y) sum += x[r * n + i];
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0) {
      for (int k = 1; k < blockDim.y; ++k) sum += part[k][threadIdx.x];
      y[i] = sum;
    }
  }
}

void run(const float* x, float* y, int rows, int n) {
  dim3 block(32, 8), grid((n + 31) / 32);
  tail_sums<<<grid, block>>>(x, y, rows, n);
}
