// Functions that the PTX declares first and defines later: the library's slow paths and one of its own.
// expect: accept
// contract: float64
__device__ __noinline__ double half_of(double v);
extern "C" __global__ void k(const double* x, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sin(x[i]) + pow(x[i], 1.7) + half_of(x[i]);
}
__device__ __noinline__ double half_of(double v) { return 0.5 * cos(v); }
