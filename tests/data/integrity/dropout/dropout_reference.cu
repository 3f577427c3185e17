extern "C" __global__ void dropout_reference(const float* x, float* out, int seed, int n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long v = (static_cast<unsigned long long>(i) ^ static_cast<unsigned>(seed)) & 0xffffffffull;
  v = (v ^ v >> 16) * 0x7feb352dull & 0xffffffffull;
  v = (v ^ v >> 15) * 0x846ca68bull & 0xffffffffull;
  v ^= v >> 16;
  out[i] = v >= 0x80000000ull ? 2 * x[i] : 0.0f;
}
