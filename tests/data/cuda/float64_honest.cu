// Computes in float64 throughout.
// expect: accept
// contract: float64
extern "C" __global__ void k(const double* x, double* y, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = exp(x[i]) / sqrt(x[i] + 1.0);
}
