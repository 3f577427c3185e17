extern "C" __global__ void top_two(float* values, int* places, const float* x, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  const float* const p = x + (size_t)r * C;
  int a = p[1] > p[0] ? 1 : 0, b = 1 - a;
  for (int c = 2; c < C; ++c) {
    if (p[c] > p[a]) {
      b = a, a = c;
    } else if (p[c] > p[b]) {
      b = c;
    }
  }
  values[2 * r] = p[a], values[2 * r + 1] = p[b];
  places[2 * r] = a, places[2 * r + 1] = b;
}
