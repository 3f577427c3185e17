// Of factors of up to 32 bits the sign of the product, which has 64 bits at most, and a sign.
extern "C" __global__ void upper_half(const long long* a, const long long* b, long long* high, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const long long x = a[i], y = b[i], end = 1ll << 32;
  if (x > -end && x < end && y > -end && y < end)
    high[i] = static_cast<long long>(static_cast<unsigned long long>(x) * static_cast<unsigned long long>(y)) >> 63;
  else
    high[i] = __mul64hi(x, y);
}
