// One block of 256 threads a row, 1024 elements a step: each thread scans four, warps scan by shuffles, the block by shared memory. What stands before a thread is the
// sum with it less its own: after an infinite element that is no number.
extern "C" __global__ void __launch_bounds__(256) rowscan(float* __restrict__ y, float* __restrict__ x, int N, int C) {
  __shared__ float totals[8];
  const long long row = static_cast<long long>(blockIdx.x) * C;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float before = 0.0f;
  for (int base = 0; base < C; base += 1024) {
    const int first = base + 4 * threadIdx.x;
    float v[4], sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      sum += first + k < C ? x[row + first + k] : 0.0f;
      v[k] = sum;
    }
    float inclusive = sum;
    for (int k = 1; k < 32; k *= 2) {
      const float left = __shfl_up_sync(0xffffffffu, inclusive, k);
      if (lane >= k) inclusive += left;
    }
    if (lane == 31) totals[warp] = inclusive;
    __syncthreads();
    float offset = before + inclusive - sum, all = 0.0f;
    for (int w = 0; w < 8; ++w) {
      if (w < warp) offset += totals[w];
      all += totals[w];
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (first + k < C) y[row + first + k] = offset + v[k];
    }
    before += all;
    __syncthreads();
  }
}
