// Integer division and bit tricks.
// expect: accept
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i] + 0.0f * (float)((i * 7 / 3) % 5) + 0.0f * (float)__brev(i);
}
