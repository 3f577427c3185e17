// Blocks take pieces of work by a ticket and change them in place: none reads what another stored.
// expect: accept
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  __shared__ int piece;
  for (;;) {
    if (threadIdx.x == 0) piece = atomicAdd((int*)y, 1);
    __syncthreads();
    int at = piece * blockDim.x + threadIdx.x;
    __syncthreads();
    if (at >= n) return;
    y[64 + at] = 2 * y[64 + at] + x[at];
  }
}
