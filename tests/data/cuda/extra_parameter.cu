// Takes a parameter that the contract lacks.
// expect: ptx_rules
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n, float* spare) {
  int i = threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
