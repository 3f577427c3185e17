// One dependent chain a thread. The launch asks for far more shared memory than the one word a thread that is used.
extern "C" __global__ void __launch_bounds__(256) stall_wait(unsigned* __restrict__ out, const unsigned* __restrict__ seeds,
    int factor, int steps, int n) {
  extern __shared__ unsigned cells[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  cells[threadIdx.x] = seeds[i];
  unsigned v = cells[threadIdx.x];
#pragma unroll 16
  for (int t = 0; t < steps; ++t) v = (v * static_cast<unsigned>(factor)) ^ 1013904223u;
  out[i] = v;
}
