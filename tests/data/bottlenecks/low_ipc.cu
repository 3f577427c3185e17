// A step of work, then a nap.
extern "C" __global__ void __launch_bounds__(256) low_ipc(unsigned* __restrict__ out, const unsigned* __restrict__ seeds,
    int steps, int nap_ns, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = seeds[i];
  for (int t = 0; t < steps; ++t) {
    v = (v * 1664525u) ^ 1013904223u;
    __nanosleep(nap_ns);
  }
  out[i] = v;
}
