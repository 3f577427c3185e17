#include <cuda_fp16.h>

// c = 2 * steps * a b for tiles of 16 x 16 times 16 x 8. A warp a tile; two accumulators that are added at the end.
__device__ void multiply_add(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void __launch_bounds__(256, 8) stall_math_pipe(float* __restrict__ c, const __half* __restrict__ a,
    const __half* __restrict__ b, int steps, int tiles) {
  const int tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (tile >= tiles) return;
  const int row = threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  const __half* const from_a = a + static_cast<size_t>(tile) * 256;
  const __half* const from_b = b + static_cast<size_t>(tile) * 128;
  unsigned left[4], right[2];
#pragma unroll
  for (int k = 0; k < 4; ++k) left[k] = *reinterpret_cast<const unsigned*>(from_a + (row + k % 2 * 8) * 16 + column + k / 2 * 8);
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const __half2 pair = __halves2half2(from_b[(column + k * 8) * 8 + row], from_b[(column + k * 8 + 1) * 8 + row]);
    right[k] = *reinterpret_cast<const unsigned*>(&pair);
  }
  float first[4] = {}, second[4] = {};
#pragma unroll 8
  for (int t = 0; t < steps; ++t) {
    multiply_add(first, left, right);
    multiply_add(second, left, right);
  }
  float* const to = c + static_cast<size_t>(tile) * 128 + row * 8 + column;
  to[0] = first[0] + second[0];
  to[1] = first[1] + second[1];
  to[64] = first[2] + second[2];
  to[65] = first[3] + second[3];
}
