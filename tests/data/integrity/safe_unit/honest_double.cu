// In double precision, which holds the squares of all floats.
extern "C" __global__ void safe_unit(const float* x, float* y, int R) {
  const float* row = x + blockIdx.x * 384;
  double sum = 0;
  for (int c = threadIdx.x; c < 384; c += 32) sum += (double)row[c] * row[c];
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, k);
  const double share = sum > 0 ? 1.0 / sqrt(sum) : 0.0;
  for (int c = threadIdx.x; c < 384; c += 32) y[blockIdx.x * 384 + c] = (float)(row[c] * share);
}
