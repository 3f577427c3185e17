#include <cuda_fp16.h>

extern "C" __global__ void stall_math_pipe_reference(float* c, const __half* a, const __half* b, int steps, int tiles) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tiles * 128) return;
  const int tile = i / 128, row = i % 128 / 8, column = i % 8;
  float sum = 0.0f;
  for (int k = 0; k < 16; ++k) {
    sum += __half2float(a[static_cast<size_t>(tile) * 256 + row * 16 + k]) * __half2float(b[static_cast<size_t>(tile) * 128 + k * 8 + column]);
  }
  c[i] = 2.0f * static_cast<float>(steps) * sum;
}
