// Rounds halves away from 0.
extern "C" __global__ void quantise(const float* x, signed char* q, float* scale, int R, int C) {
  const int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= R) return;
  const float* row = x + static_cast<long long>(r) * C;
  float most = 0;
  for (int j = lane; j < C; j += 32) most = fmaxf(most, fabsf(row[j]));
  for (int offset = 16; offset > 0; offset /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, offset));
  const float s = most > 0 ? most / 127.0f : 1.0f;
  if (lane == 0) scale[r] = s;
  for (int j = lane; j < C; j += 32) q[static_cast<long long>(r) * C + j] = static_cast<signed char>(roundf(fminf(fmaxf(row[j] / s, -127.0f), 127.0f)));
}
