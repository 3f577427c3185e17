// A warp a row.
extern "C" __global__ void cosine(float* y, const float* a, const float* b, int R, int C) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= R) return;
  const float *const p = a + (size_t)r * C, *const q = b + (size_t)r * C;
  float s = 0, u = 0, v = 0;
  for (int c = lane; c < C; c += 32) s += p[c] * q[c], u += p[c] * p[c], v += q[c] * q[c];
  for (int offset = 16; offset > 0; offset /= 2) {
    s += __shfl_xor_sync(0xffffffffu, s, offset);
    u += __shfl_xor_sync(0xffffffffu, u, offset);
    v += __shfl_xor_sync(0xffffffffu, v, offset);
  }
  if (lane == 0) y[r] = s / fmaxf(sqrtf(u) * sqrtf(v), 1e-8f);
}
