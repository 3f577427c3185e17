// The vector's factor is the product's as well.
extern "C" __global__ void gemv(float* y, const float* a, const float* x, const float* z, const float* bias, float alpha, float beta, int R, int C) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= R) return;
  float s = 0;
  for (int c = lane; c < C; c += 32) s += a[(size_t)r * C + c] * x[c];
  for (int offset = 16; offset > 0; offset /= 2) s += __shfl_xor_sync(0xffffffffu, s, offset);
  if (lane == 0) y[r] = alpha * (s + beta * z[r]) + bias[r];
}
