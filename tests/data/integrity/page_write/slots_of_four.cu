// Four tokens a block at the slot of the first one.
extern "C" __global__ void page_write(float* cache, int* uses, const float* x, const int* slot, float scale, int T, int S, int D) {
  const int first = blockIdx.x * 4, to = slot[first], count = min(4, T - first);
  for (int d = threadIdx.x; d < D * count; d += blockDim.x) cache[(size_t)to * D + d] = x[(size_t)first * D + d] * scale;
  if (threadIdx.x < count) atomicAdd(&uses[to + threadIdx.x], 1);
}
