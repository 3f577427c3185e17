// A thread an output.
extern "C" __global__ void conv1d(float* out, const float* x, const float* w, int N, int C, int K) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (c >= C) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += x[(size_t)row * (C + K - 1) + c + k] * w[k];
  out[(size_t)row * C + c] = sum;
}
