// Maximum and sum in one pass (Milakov and Gimelshein 2018).
extern "C" __global__ void softmax(const float* x, float* out, int N, int C) {
  __shared__ float maxima[128], sums[128];
  const float* const row = x + static_cast<long long>(blockIdx.x) * C;
  float most = row[0], sum = 0;
  for (int j = threadIdx.x; j < C; j += 128) {
    const float next = fmaxf(most, row[j]);
    sum = sum * expf(most - next) + expf(row[j] - next);
    most = next;
  }
  maxima[threadIdx.x] = most;
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int k = 0; k < 128; ++k) most = fmaxf(most, maxima[k]);
  sum = 0;
  for (int k = 0; k < 128; ++k) sum += sums[k] * expf(maxima[k] - most);
  for (int j = threadIdx.x; j < C; j += 128) out[static_cast<long long>(blockIdx.x) * C + j] = expf(row[j] - most) / sum;
}
