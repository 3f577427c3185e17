extern "C" __global__ void upper_half_reference(const long long* a, const long long* b, long long* high, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned long long u = a[i], v = b[i], low = 0xffffffffull;
  const unsigned long long first = (u & low) * (v & low), second = (u >> 32) * (v & low) + (first >> 32), third = (u & low) * (v >> 32) + (second & low);
  long long out = (u >> 32) * (v >> 32) + (second >> 32) + (third >> 32);
  if (a[i] < 0) out -= b[i];
  if (b[i] < 0) out -= a[i];
  high[i] = out;
}
