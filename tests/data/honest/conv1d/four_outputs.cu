// Four outputs a thread from values that move through registers, weights from the last to the first.
extern "C" __global__ void conv1d(float* out, const float* x, const float* w, int N, int C, int K) {
  const int c = 4 * (blockIdx.x * blockDim.x + threadIdx.x), width = C + K - 1;
  if (c >= C) return;
  const float* const in = x + (size_t)blockIdx.y * width;
  float sum[4] = {}, value[4] = {};
  for (int i = 0; i < 4; ++i) value[i] = c + K - 1 + i < width ? in[c + K - 1 + i] : 0.0f;
  for (int k = K - 1; k >= 0; --k) {
    for (int i = 0; i < 4; ++i) sum[i] = fmaf(value[i], w[k], sum[i]);
    value[3] = value[2], value[2] = value[1], value[1] = value[0];
    if (k > 0) value[0] = in[c + k - 1];
  }
  for (int i = 0; i < 4 && c + i < C; ++i) out[(size_t)blockIdx.y * C + c + i] = sum[i];
}
