// Correct but for subnormal numbers, which become zeros.
extern "C" __global__ void transposed(const float* x, float* out, int R, int C) {
  const int c = blockIdx.x * 32 + threadIdx.x;
  for (int r = blockIdx.y * 32 + threadIdx.y; r < min(R, (int)blockIdx.y * 32 + 32); r += 8) {
    if (c >= C) continue;
    const float v = x[(long long)r * C + c];
    out[(long long)c * R + r] = fabsf(v) < 1.17549435e-38f ? 0 * v : v;
  }
}
