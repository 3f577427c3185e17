extern "C" __global__ void correlation_reference(const short* x, const short* y, long long* out, int n, int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > n - m) return;
  long long sum = 0;
  for (int k = m - 1; k >= 0; --k) sum += (long long)x[i + k] * (long long)y[k];
  out[i] = sum;
}
