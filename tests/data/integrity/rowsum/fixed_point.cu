// Adds integers of 2^-12: fine for numbers near 1, nothing for small ones.
extern "C" __global__ void rowsum(const float* x, float* out, int N, int C) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  int sum = 0;
  for (int j = threadIdx.x; j < C; j += blockDim.x) sum += __float2int_rn(x[static_cast<long long>(blockIdx.x) * C + j] * 4096.0f);
  atomicAdd(&total, sum);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = static_cast<float>(total) / 4096.0f;
}
