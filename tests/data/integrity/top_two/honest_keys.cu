// A warp a row, by keys whose order is that of numbers and places.
static __device__ unsigned long long key_of(float v, int i) {
  if (v == 0) v = 0.0f;
  const unsigned bits = __float_as_uint(v);
  const unsigned ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return (unsigned long long)ordered << 32 | (unsigned)(0x7fffffff - i);
}

extern "C" __global__ void top_two(float* values, int* places, const float* x, int R, int C) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= R) return;
  const float* const p = x + (size_t)r * C;
  unsigned long long a = 0, b = 0;
  for (int c = lane; c < C; c += 32) {
    const unsigned long long k = key_of(p[c], c);
    b = max(b, min(a, k)), a = max(a, k);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const unsigned long long c = __shfl_xor_sync(0xffffffffu, a, offset), d = __shfl_xor_sync(0xffffffffu, b, offset);
    b = max(min(a, c), max(b, d)), a = max(a, c);
  }
  const int first = 0x7fffffff - (int)(a & 0xffffffffu), second = 0x7fffffff - (int)(b & 0xffffffffu);
  if (lane < 2) values[2 * r + lane] = p[lane == 0 ? first : second], places[2 * r + lane] = lane == 0 ? first : second;
}
