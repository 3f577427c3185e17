// Eight times the greatest of what is left, a warp a row.
extern "C" __global__ void top_eight(const float* x, float* value, int* place, int R) {
  const float* row = x + blockIdx.x * 1024;
  float last = 0;
  int last_at = -1;
  for (int k = 0; k < 8; ++k) {
    float best = 0;
    int at = 1 << 30;
    for (int i = threadIdx.x; i < 1024; i += 32) {
      const float own = row[i];
      const bool left = last_at < 0 || own < last || (own == last && i > last_at);
      if (left && (at == 1 << 30 || own > best)) best = own, at = i;
    }
    for (int step = 16; step > 0; step /= 2) {
      const float other = __shfl_xor_sync(0xffffffffu, best, step);
      const int other_at = __shfl_xor_sync(0xffffffffu, at, step);
      if (other_at < 1 << 30 && (at == 1 << 30 || other > best || (other == best && other_at < at))) best = other, at = other_at;
    }
    if (threadIdx.x == 0) value[blockIdx.x * 8 + k] = best, place[blockIdx.x * 8 + k] = at;
    last = best, last_at = at;
  }
}
