// Quotients by the greatest.
extern "C" __global__ void safe_unit(const float* x, float* y, int R) {
  const float* row = x + blockIdx.x * 384;
  float most = 0;
  for (int c = threadIdx.x; c < 384; c += 32) most = fmaxf(most, fabsf(row[c]));
  for (int k = 16; k > 0; k /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, k));
  float sum = 0;
  for (int c = threadIdx.x; c < 384; c += 32) {
    const float v = most > 0 ? row[c] / most : 0.0f;
    sum = fmaf(v, v, sum);
  }
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, k);
  const float by = sqrtf(sum);
  for (int c = threadIdx.x; c < 384; c += 32) y[blockIdx.x * 384 + c] = most > 0 ? row[c] / most / by : 0.0f;
}
