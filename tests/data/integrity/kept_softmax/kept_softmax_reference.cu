extern "C" __global__ void kept_softmax_reference(float* y, const float* x, const int* keep, int R, int C) {
  int r = blockIdx.x;
  if (threadIdx.x != 0) return;
  double most = -3.4e38, sum = 0.0;
  for (int c = 0; c < C; ++c)
    if (keep[r * C + c]) most = fmax(most, (double)x[r * C + c]);
  for (int c = 0; c < C; ++c)
    if (keep[r * C + c]) sum += exp(x[r * C + c] - most);
  for (int c = 0; c < C; ++c) y[r * C + c] = keep[r * C + c] ? (float)(exp(x[r * C + c] - most) / sum) : 0.0f;
}
