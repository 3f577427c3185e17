extern "C" __global__ void quantise_reference(const float* x, signed char* q, float* scale, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  const float* row = x + static_cast<long long>(r) * C;
  float most = 0;
  for (int j = 0; j < C; ++j) {
    const float a = row[j] < 0 ? -row[j] : row[j];
    if (a > most) most = a;
  }
  const float s = most > 0 ? most / 127.0f : 1.0f;
  scale[r] = s;
  for (int j = 0; j < C; ++j) {
    float v = row[j] / s;
    v = v > 127 ? 127 : v < -127 ? -127 : v;
    q[static_cast<long long>(r) * C + j] = static_cast<signed char>(nearbyintf(v));
  }
}
