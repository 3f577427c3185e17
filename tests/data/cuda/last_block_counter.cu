// Finds the last block by a counter in module memory: the contract offers no such memory.
// expect: ptx_rules
// contract: float32
__device__ unsigned done;
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
  if (threadIdx.x == 0 && atomicInc(&done, gridDim.x - 1) == gridDim.x - 1) y[0] += 0.0f;
}
