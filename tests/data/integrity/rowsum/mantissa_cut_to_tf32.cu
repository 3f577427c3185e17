// 13 of 23 bits of the mantissa are cut off.
extern "C" __global__ void rowsum(const float* x, float* out, int N, int C) {
  __shared__ float total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  float sum = 0;
  for (int j = threadIdx.x; j < C; j += blockDim.x) {
    sum += __int_as_float(__float_as_int(x[static_cast<long long>(blockIdx.x) * C + j]) & 0xffffe000);
  }
  atomicAdd(&total, sum);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}
