// Counts of each block apart, by atomics of a block.
// expect: accept
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float* own = y + 256 * blockIdx.x;
  if (i < n) atomicAdd_block(own + (int)x[i], 1.0f);
}
