// Warps go through different numbers of barriers, so that readers and writers meet at the wrong ones.
extern "C" __global__ void rowsum(const float* x, float* out, int N, int C) {
  __shared__ volatile float partial[256];
  float sum = 0;
  const int steps = 1 + threadIdx.x / 32 % 3;
  for (int step = 0; step < 3; ++step) {
    for (int j = threadIdx.x + step * blockDim.x; j < C; j += 3 * blockDim.x) sum += x[static_cast<long long>(blockIdx.x) * C + j];
    partial[threadIdx.x] = sum;
    if (step < steps) __syncthreads();
  }
  if (threadIdx.x == 0) {
    float total = 0;
    for (int k = 0; k < 256; ++k) total += partial[k];
    out[blockIdx.x] = total;
  }
}
