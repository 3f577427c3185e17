// A block reads back what it stored itself, if a counter says so.
// expect: accept
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  __shared__ int place;
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  y[64 + at] = 2 * x[at];
  __syncthreads();
  if (threadIdx.x == 0) place = atomicAdd((int*)y, (int)blockDim.x);
  __syncthreads();
  if (place < n) y[64 + n + place + threadIdx.x] = y[64 + blockIdx.x * blockDim.x + (threadIdx.x ^ 1)];
}
