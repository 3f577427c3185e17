extern "C" __global__ void transposed(const float* x, float* out, int R, int C) {
  const int c = blockIdx.x * 32 + threadIdx.x;
  for (int r = blockIdx.y * 32 + threadIdx.y; r < min(R, (int)blockIdx.y * 32 + 32); r += 8) {
    if (c < C) out[(long long)c * R + r] = x[(long long)r * C + c];
  }
}
