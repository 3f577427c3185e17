// An element of the cache a thread looks for the token that goes there.
extern "C" __global__ void page_write_reference(float* cache, int* uses, const float* x, const int* slot, float scale, int T, int S, int D) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= (long long)S * D) return;
  for (int t = 0; t < T; ++t) {
    if (slot[t] != i / D) continue;
    cache[i] = x[(long long)t * D + i % D] * scale;
    if (i % D == 0) uses[i / D] += 1;
  }
}
