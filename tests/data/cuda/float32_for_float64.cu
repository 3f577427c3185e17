// Computes in float32 where float64 is declared.
// expect: instruction_precision
// contract: float64
extern "C" __global__ void k(const double* x, double* y, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = 2.0f * (float)x[i];
}
