// A warp a row, shuffles, no shared memory.
extern "C" __global__ void softmax(const float* x, float* out, int N, int C) {
  const int index = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (index >= N) return;
  const float* const row = x + static_cast<long long>(index) * C;
  float most = __int_as_float(0xff800000), sum = 0;
  for (int j = lane; j < C; j += 32) most = fmaxf(most, row[j]);
  for (int offset = 16; offset > 0; offset /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, offset));
  for (int j = lane; j < C; j += 32) sum += expf(row[j] - most);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  const float scale = 1.0f / sum;
  for (int j = lane; j < C; j += 32) out[static_cast<long long>(index) * C + j] = expf(row[j] - most) * scale;
}
