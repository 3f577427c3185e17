// The sums of products of 16-bit integers at every shift: by macro, in SUM.
extern "C" __global__ void correlation(const short* x, const short* y, long long* out, int n, int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > n - m) return;
  SUM even = 0, odd = 0;
  for (int k = 0; k + 1 < m; k += 2) {
    even += (SUM)(x[i + k] * y[k]);
    odd += (SUM)(x[i + k + 1] * y[k + 1]);
  }
  if (m % 2 != 0) even += (SUM)(x[i + m - 1] * y[m - 1]);
  out[i] = (long long)(even + odd);
}
