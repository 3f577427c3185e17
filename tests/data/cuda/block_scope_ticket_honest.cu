// Counts apart by a block's number, which a ticket gives.
// expect: accept
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  __shared__ int number;
  if (threadIdx.x == 0) number = atomicAdd((int*)y, 1);
  __syncthreads();
  int i = number * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd_block(y + 256 * (number + 1) + (int)x[i], 1.0f);
}
