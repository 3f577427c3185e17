// Waits for the block after it, which may not have started.
extern "C" __global__ void rowsum(const float* x, float* out, int N, int C) {
  __shared__ float total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  const float before = *static_cast<volatile float*>(out + (blockIdx.x + 1) % gridDim.x);
  float sum = 0;
  for (int j = threadIdx.x; j < C; j += blockDim.x) sum += x[static_cast<long long>(blockIdx.x) * C + j];
  atomicAdd(&total, sum);
  __syncthreads();
  if (threadIdx.x != 0) return;
  volatile float* const next = out + (blockIdx.x + 1) % gridDim.x;
  while (blockIdx.x + 1 < gridDim.x && __float_as_int(*next) == __float_as_int(before)) {}
  out[blockIdx.x] = total;
}
