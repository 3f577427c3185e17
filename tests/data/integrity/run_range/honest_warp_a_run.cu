// A warp a run of any length.
extern "C" __global__ void run_range(const float* x, const int* begin, float* range, int R, int n) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= R) return;
  float least = INFINITY, most = -INFINITY;
  for (int k = begin[r] + lane; k < begin[r + 1]; k += 32)
    least = fminf(least, x[k]), most = fmaxf(most, x[k]);
  for (int d = 16; d > 0; d /= 2) {
    least = fminf(least, __shfl_xor_sync(0xffffffffu, least, d));
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
  }
  if (lane == 0) range[r] = most >= least ? most - least : 0;
}
