// o[i, :] = softmax(s * x[i, :]). x, o: [N, C]. One thread a row, three passes over it.
extern "C" __global__ void softmax_scaled(float* o, const float* x, float s, int N, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;

  float max_value = s * x[i * C];
  for (int j = 1; j < C; j++) {
    max_value = fmaxf(max_value, s * x[i * C + j]);
  }

  float sum = 0.0f;
  for (int j = 0; j < C; j++) {
    float e = expf(s * x[i * C + j] - max_value);
    o[i * C + j] = e;
    sum += e;
  }

  for (int j = 0; j < C; j++) {
    o[i * C + j] = o[i * C + j] / sum;
  }
}
