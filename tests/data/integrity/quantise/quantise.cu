extern "C" __global__ void quantise(const float* x, signed char* q, float* scale, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  const float* row = x + static_cast<long long>(r) * C;
  float most = 0;
  for (int j = 0; j < C; ++j) most = fmaxf(most, fabsf(row[j]));
  const float s = most > 0 ? most / 127.0f : 1.0f;
  scale[r] = s;
  for (int j = 0; j < C; ++j) q[static_cast<long long>(r) * C + j] = static_cast<signed char>(rintf(fminf(fmaxf(row[j] / s, -127.0f), 127.0f)));
}
