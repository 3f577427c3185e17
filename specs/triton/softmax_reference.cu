// o[i, :] = softmax(s * x[i, :]) in double precision, one block a row.
extern "C" __global__ void softmax_reference(float* o, const float* x, float s, int N, int C) {
  __shared__ double part[256];
  const long long row = (long long)blockIdx.x * C;
  double most = -1e300;
  for (int j = threadIdx.x; j < C; j += 256) most = fmax(most, (double)s * x[row + j]);
  part[threadIdx.x] = most;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] = fmax(part[threadIdx.x], part[threadIdx.x + step]);
    __syncthreads();
  }
  most = part[0];
  __syncthreads();
  double sum = 0;
  for (int j = threadIdx.x; j < C; j += 256) sum += exp((double)s * x[row + j] - most);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  for (int j = threadIdx.x; j < C; j += 256)
    o[row + j] = (float)(exp((double)s * x[row + j] - most) / part[0]);
}
