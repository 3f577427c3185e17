extern "C" __global__ void low_ipc_reference(unsigned* out, const unsigned* seeds, int steps, int nap_ns, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = seeds[i];
  for (int t = 0; t < steps; ++t) v = (v * 1664525u) ^ 1013904223u;
  out[i] = v;
}
