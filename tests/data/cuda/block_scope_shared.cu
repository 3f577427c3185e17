// Counts of all blocks by atomics of a block.
// expect: between_blocks
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd_block(y + (int)x[i], 1.0f);
}
