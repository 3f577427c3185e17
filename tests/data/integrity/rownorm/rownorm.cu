// out = (x - mean) / sqrt(variance + eps) of every row, one block a row.
extern "C" __global__ void rownorm(const float* x, float* out, float eps, int N, int C) {
  __shared__ float partial[128];
  const float* const row = x + static_cast<long long>(blockIdx.x) * C;
  float sum = 0;
  for (int j = threadIdx.x; j < C; j += 128) sum += row[j];
  partial[threadIdx.x] = sum;
  __syncthreads();
  float mean = 0;
  for (int k = 0; k < 128; ++k) mean += partial[k];
  mean /= C;
  __syncthreads();
  float squares = 0;
  for (int j = threadIdx.x; j < C; j += 128) squares += (row[j] - mean) * (row[j] - mean);
  partial[threadIdx.x] = squares;
  __syncthreads();
  float variance = 0;
  for (int k = 0; k < 128; ++k) variance += partial[k];
  const float scale = 1.0f / sqrtf(variance / C + eps);
  for (int j = threadIdx.x; j < C; j += 128) out[static_cast<long long>(blockIdx.x) * C + j] = (row[j] - mean) * scale;
}
