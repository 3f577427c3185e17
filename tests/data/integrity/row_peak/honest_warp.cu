// A warp a row; of equal elements the lesser place.
extern "C" __global__ void row_peak(const float* x, float* most, int* at, int R, int C) {
  const int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= R) return;
  float best = -__int_as_float(0x7f800000);
  int place = 0x7fffffff;
  for (int c = lane; c < C; c += 32) {
    const float v = x[(size_t)r * C + c];
    if (v > best || place == 0x7fffffff) best = v, place = c;
  }
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_down_sync(0xffffffffu, best, step);
    const int from = __shfl_down_sync(0xffffffffu, place, step);
    if (other > best || (other == best && from < place)) best = other, place = from;
  }
  if (lane == 0) most[r] = best, at[r] = place;
}
