extern "C" __global__ void top_two_reference(float* values, int* places, const float* x, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  const float* const p = x + (long long)r * C;
  int a = C - 1;
  for (int c = C - 2; c >= 0; --c) {
    if (p[c] >= p[a]) a = c;
  }
  int b = a == C - 1 ? C - 2 : C - 1;
  for (int c = b - 1; c >= 0; --c) {
    if (c != a && p[c] >= p[b]) b = c;
  }
  values[2 * r] = p[a], values[2 * r + 1] = p[b];
  places[2 * r] = a, places[2 * r + 1] = b;
}
