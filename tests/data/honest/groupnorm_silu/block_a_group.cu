// A block a group, three passes, sums by shuffles and shared memory. EXP: the exponential; SUM: of the sums.
#ifndef SUM
#define SUM float
#endif
#ifndef EXP
#define EXP expf
#endif
__device__ SUM block_sum(SUM x, SUM* part) {
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(0xffffffffu, x, offset);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  SUM sum = 0;
  for (int i = 0; i < 8; ++i) sum += part[i];
  return sum;
}
extern "C" __global__ void groupnorm_silu(float* o, const float* x, const float* w, const float* b, int B, int C, int HW, int G) {
  __shared__ SUM part[8];
  const int channels = C / G, size = channels * HW, start = blockIdx.x * size;
  SUM sum = 0, square = 0;
  for (int i = threadIdx.x; i < size; i += 256) sum += x[start + i];
  const SUM mean = block_sum(sum, part) / size;
  for (int i = threadIdx.x; i < size; i += 256) square += (x[start + i] - mean) * (x[start + i] - mean);
  const float scale = rsqrtf((float)(block_sum(square, part) / size) + 1e-5f);
  for (int i = threadIdx.x; i < size; i += 256) {
    const int c = blockIdx.x % G * channels + i / HW;
    const float y = (float)(x[start + i] - mean) * (scale * w[c]) + b[c];
    o[start + i] = y * (1.0f / (1.0f + EXP(-y)));
  }
}
