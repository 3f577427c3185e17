// Compare and swap until it holds.
extern "C" __global__ void scatter_max(const int* v, const int* at, int* o, int N, int M) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const int b = v[i];
  int old = o[at[i]];
  while (b > old) {
    const int seen = atomicCAS(o + at[i], old, b);
    if (seen == old) break;
    old = seen;
  }
}
