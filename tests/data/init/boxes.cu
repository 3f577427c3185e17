// Areas of boxes of four numbers, each block's behind a tile of them in shared memory.
constexpr int kBoxes = 64;
__global__ void areas(const float* boxes, float* area, int n) {
  __shared__ float tile[kBoxes * 4];
  for (int c = 0; c < 4; ++c) {
    if (blockIdx.x * kBoxes + threadIdx.x < n)
      tile[threadIdx.x * 4 + c] = boxes[(kBoxes * blockIdx.x + threadIdx.x) * 4 + c];
  }
  __syncthreads();
  if (kBoxes * blockIdx.x + threadIdx.x < n)
    area[blockIdx.x * kBoxes + threadIdx.x] = tile[threadIdx.x * 4 + 2] * tile[threadIdx.x * 4 + 3];
}

// Of every second element alone: no index has a thread's step as its own.
__global__ void halved(const float* x, float* y, int n) {
  if (blockIdx.x * 256 + 2 * threadIdx.x < n)
    y[256 * blockIdx.x + 2 * threadIdx.x] = 0.5f * x[256 * blockIdx.x + 2 * threadIdx.x];
}
