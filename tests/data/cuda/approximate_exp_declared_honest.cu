// The fast exponential where special functions are declared.
// expect: accept
// contract: float32 sfu
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __expf(x[i]);
}
