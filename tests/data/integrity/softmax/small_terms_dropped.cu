// Terms below exp(-4) of the largest do not count.
extern "C" __global__ void softmax(const float* x, float* out, int N, int C) {
  __shared__ float partial[128];
  const float* const row = x + static_cast<long long>(blockIdx.x) * C;
  float most = __int_as_float(0xff800000), sum = 0;
  for (int j = 0; j < C; ++j) most = fmaxf(most, row[j]);
  for (int j = threadIdx.x; j < C; j += 128) sum += row[j] - most < -4.0f ? 0.0f : expf(row[j] - most);
  partial[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < 128; ++k) sum += partial[k];
  for (int j = threadIdx.x; j < C; j += 128) out[static_cast<long long>(blockIdx.x) * C + j] = expf(row[j] - most) / sum;
}
