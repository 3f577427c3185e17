// out[i] = sum of row i, one block a row.
extern "C" __global__ void rowsum(const float* x, float* out, int N, int C) {
  __shared__ float partial[256];
  float sum = 0;
  for (int j = threadIdx.x; j < C; j += blockDim.x) sum += x[static_cast<long long>(blockIdx.x) * C + j];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}
