// Reads filter weights from a constant table by index.
// expect: accept
// contract: float32
__constant__ float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = weights[i & 7] * x[i];
}
