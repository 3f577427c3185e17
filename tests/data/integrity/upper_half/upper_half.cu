extern "C" __global__ void upper_half(const long long* a, const long long* b, long long* high, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  high[i] = __mul64hi(a[i], b[i]);
}
