// A warp a row. LOST: low bits that every term of a sum is without; PART: what part of a row is summed; EPS: in the root.
#ifndef LOST
#define LOST 0
#endif
#ifndef PART
#define PART 1
#endif
#ifndef EPS
#define EPS 1e-5f
#endif
__device__ float cut(float x) { return __int_as_float(__float_as_int(x) >> LOST << LOST); }
__device__ float warp_sum(float x) {
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(0xffffffffu, x, offset);
  return x;
}
extern "C" __global__ void layer_norm(float* out, const float* x, const float* w, const float* b, int N, int C) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= N) return;
  const float* const in = x + (size_t)row * C;
  const int terms = C / PART;
  float sum = 0, square = 0;
  for (int i = lane; i < terms; i += 32) sum += cut(in[i]);
  const float mean = warp_sum(sum) / terms;
  for (int i = lane; i < terms; i += 32) square += cut((in[i] - mean) * (in[i] - mean));
  const float scale = rsqrtf(warp_sum(square) / terms + EPS);
  for (int i = lane; i < C; i += 32) out[(size_t)row * C + i] = (in[i] - mean) * scale * w[i] + b[i];
}
