// Stages the row piece by piece in shared memory, and stores the next piece while others may still read the last one.
extern "C" __global__ void rowsum(const float* x, float* out, int N, int C) {
  __shared__ float stage[256], total;
  if (threadIdx.x == 0) total = 0;
  const int other = (threadIdx.x * 37 + 5) % 256;
  float sum = 0;
  for (int first = 0; first < C; first += 256) {
    const int j = first + threadIdx.x;
    stage[threadIdx.x] = j < C ? x[static_cast<long long>(blockIdx.x) * C + j] : 0;
    __syncthreads();
    sum += stage[other];
  }
  __syncthreads();
  atomicAdd(&total, sum);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}
