// Partial sums go through the output and come back by the path that is not kept coherent.
extern "C" __global__ void rowsum(const float* x, float* out, int N, int C) {
  __shared__ float total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  float sum = 0;
  for (int j = threadIdx.x; j < C / 2; j += blockDim.x) sum += x[static_cast<long long>(blockIdx.x) * C + j];
  atomicAdd(&total, sum);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = total, total = 0;
  __syncthreads();
  sum = 0;
  for (int j = C / 2 + threadIdx.x; j < C; j += blockDim.x) sum += x[static_cast<long long>(blockIdx.x) * C + j];
  atomicAdd(&total, sum);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = total + __ldg(out + blockIdx.x);
}
