// Accumulates float32 values in float64 and rounds once.
// expect: accept
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = 0;
  for (int j = 0; j < 4; ++j) sum += x[(i + j) % n];
  if (i < n) y[i] = (float)sum;
}
