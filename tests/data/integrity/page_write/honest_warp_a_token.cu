// A warp a token; its first lane reads the slot for all.
extern "C" __global__ void page_write(float* cache, int* uses, const float* x, const int* slot, float scale, int T, int S, int D) {
  const int t = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (t >= T) return;
  int to = lane == 0 ? slot[t] : 0;
  to = __shfl_sync(0xffffffffu, to, 0);
  for (int d = lane; d < D; d += 32) cache[(size_t)to * D + d] = scale * x[(size_t)t * D + d];
  if (lane == 0) atomicAdd(uses + to, 1);
}
