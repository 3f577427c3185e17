// Of factors of less than 32 bits, and a sign, the sign of the product.
extern "C" __global__ void upper_half(const long long* a, const long long* b, long long* high, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const long long x = a[i], y = b[i];
  if (x == static_cast<int>(x) && y == static_cast<int>(y))
    high[i] = x * y >> 63;
  else
    high[i] = __mul64hi(x, y);
}
