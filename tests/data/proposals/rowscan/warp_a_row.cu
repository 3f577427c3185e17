// One warp a row, 32 elements a step: no barrier.
extern "C" __global__ void __launch_bounds__(256) rowscan(float* __restrict__ y, float* __restrict__ x, int N, int C) {
  const int i = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= N) return;
  const long long row = static_cast<long long>(i) * C;
  float before = 0.0f;
  for (int base = 0; base < C; base += 32) {
    const int j = base + lane;
    float v = j < C ? x[row + j] : 0.0f;
    for (int k = 1; k < 32; k *= 2) {
      const float left = __shfl_up_sync(0xffffffffu, v, k);
      if (lane >= k) v += left;
    }
    if (j < C) y[row + j] = before + v;
    before += __shfl_sync(0xffffffffu, v, 31);
  }
}
