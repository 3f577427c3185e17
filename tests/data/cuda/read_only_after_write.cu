// Reads its output back through the read-only path.
// expect: read_only_path
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
  __syncthreads();
  if (i + 1 < n) y[i] += 0.0f * __ldg(y + i + 1);
}
