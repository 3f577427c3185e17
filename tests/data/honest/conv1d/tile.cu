// The piece of the row and the weights in shared memory; SUMS sums side by side.
extern "C" __global__ void conv1d(float* out, const float* x, const float* w, int N, int C, int K) {
  __shared__ float tile[160], weight[32];
  const int begin = blockIdx.x * 128;
  const float* const in = x + (size_t)blockIdx.y * (C + K - 1);
  for (int i = threadIdx.x; i < 128 + K - 1; i += 128) tile[i] = begin + i < C + K - 1 ? in[begin + i] : 0.0f;
  if (threadIdx.x < K) weight[threadIdx.x] = w[threadIdx.x];
  __syncthreads();
  if (begin + threadIdx.x >= C) return;
  float sum[SUMS] = {}, all = 0;
  for (int k = 0; k < K; ++k) sum[k % SUMS] += tile[threadIdx.x + k] * weight[k];
  for (int i = SUMS - 1; i >= 0; --i) all += sum[i];
  out[(size_t)blockIdx.y * C + begin + threadIdx.x] = all;
}
