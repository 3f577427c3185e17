extern "C" __global__ void correlation(const short* x, const short* y, long long* out, int n, int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > n - m) return;
  long long sum = 0;
  for (int k = 0; k < m; ++k) sum += x[i + k] * y[k];
  out[i] = sum;
}
