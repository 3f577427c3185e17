// A block a row, pieces of 256: a scan of each warp by shuffles, then of the warps. SUM: of the sums.
#ifndef SUM
#define SUM float
#endif
extern "C" __global__ void rowscan(float* y, const float* x, int N, int C) {
  __shared__ SUM totals[8];
  const float* const in = x + (size_t)blockIdx.x * C;
  float* const out = y + (size_t)blockIdx.x * C;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  SUM before = 0;
  for (int begin = 0; begin < C; begin += 256) {
    const int j = begin + threadIdx.x;
    SUM value = j < C ? in[j] : 0.0f;
    for (int offset = 1; offset < 32; offset *= 2) {
      const SUM other = __shfl_up_sync(0xffffffffu, value, offset);
      if (lane >= offset) value += other;
    }
    if (lane == 31) totals[warp] = value;
    __syncthreads();
    SUM base = before;
    for (int k = 0; k < 8; ++k) {
      if (k < warp) base += totals[k];
      before += totals[k];
    }
    if (j < C) out[j] = (float)(base + value);
    __syncthreads();
  }
}
