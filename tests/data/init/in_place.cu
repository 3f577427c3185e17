__global__ void relu_(float* data, long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && data[i] < 0.f) data[i] = 0.f;
}
