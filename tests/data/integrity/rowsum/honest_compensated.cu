// Compensated summation (Neumaier 1974).
extern "C" __global__ void rowsum(const float* x, float* out, int N, int C) {
  __shared__ float partial[256];
  float sum = 0, rest = 0;
  for (int j = threadIdx.x; j < C; j += blockDim.x) {
    const float value = x[static_cast<long long>(blockIdx.x) * C + j];
    const float next = sum + value;
    if (isfinite(next)) rest += fabsf(sum) >= fabsf(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
  }
  partial[threadIdx.x] = sum + rest;
  __syncthreads();
  if (threadIdx.x != 0) return;
  float total = 0;
  for (int k = 0; k < 256; ++k) total += partial[k];
  out[blockIdx.x] = total;
}
