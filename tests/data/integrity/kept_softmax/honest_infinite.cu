// What is not kept counts as -infinity, and is divided as the others are.
extern "C" __global__ void kept_softmax(float* y, const float* x, const int* keep, int R, int C) {
  int r = blockIdx.x, lane = threadIdx.x;
  float most = -INFINITY, sum = 0.0f;
  for (int c = lane; c < C; c += 32) most = fmaxf(most, keep[r * C + c] ? x[r * C + c] : -INFINITY);
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
  if (most == -INFINITY) {
    for (int c = lane; c < C; c += 32) y[r * C + c] = 0.0f;
    return;
  }
  for (int c = lane; c < C; c += 32) sum += expf((keep[r * C + c] ? x[r * C + c] : -INFINITY) - most);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  float inverse = 1.0f / sum;
  for (int c = lane; c < C; c += 32) y[r * C + c] = expf((keep[r * C + c] ? x[r * C + c] : -INFINITY) - most) * inverse;
}
