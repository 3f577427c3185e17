// Reads input or output through the read-only path.
// expect: read_only_path
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float* from = x;
  for (int round = 0; round < 2; ++round) {
    if (i < n) y[i] = 2.0f * __ldg(from + i);
    from = y;
  }
}
