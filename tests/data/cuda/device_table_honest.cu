// Reads an initialised table in device memory by index.
// expect: accept
// contract: float32
__device__ const float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = table[i & 7] * x[i];
}
