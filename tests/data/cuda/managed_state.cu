// Keeps state in a managed variable.
// expect: ptx_rules
// contract: float32
__managed__ int seen;
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) seen += 1;
  if (i < n) y[i] = 2.0f * x[i];
}
