extern "C" __global__ void kept_softmax(float* y, const float* x, const int* keep, int R, int C) {
  int r = blockIdx.x;
  if (threadIdx.x != 0) return;
  float most = -3.4e38f, sum = 0.0f;
  for (int c = 0; c < C; ++c)
    if (keep[r * C + c]) most = fmaxf(most, x[r * C + c]);
  for (int c = 0; c < C; ++c)
    if (keep[r * C + c]) sum += expf(x[r * C + c] - most);
  for (int c = 0; c < C; ++c) y[r * C + c] = keep[r * C + c] ? expf(x[r * C + c] - most) / sum : 0.0f;
}
