// The first thread of a block goes 64 operations further in each step; all add its value.
extern "C" __global__ void __launch_bounds__(1024) stall_barrier(unsigned* __restrict__ out, const unsigned* __restrict__ seeds,
    int factor, int steps, int n) {
  __shared__ unsigned value;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = seeds[blockIdx.x * blockDim.x], sum = i < n ? seeds[i] : 0;
  for (int t = 0; t < steps; ++t) {
    if (threadIdx.x == 0) {
#pragma unroll
      for (int k = 0; k < 32; ++k) v = (v * static_cast<unsigned>(factor)) ^ 1013904223u;
      value = v;
    }
    __syncthreads();
    sum += value;
    __syncthreads();
  }
  if (i < n) out[i] = sum;
}
