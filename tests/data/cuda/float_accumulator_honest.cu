// Multiplies half values on tensor cores and accumulates in float32.
// expect: accept
// contract: float16
#include <mma.h>
extern "C" __global__ void k(const __half* x, __half* y, int n) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> a;
  fragment<matrix_b, 16, 16, 16, __half, col_major> b;
  fragment<accumulator, 16, 16, 16, float> c;
  fill_fragment(c, 0.0f);
  load_matrix_sync(a, x, 16);
  load_matrix_sync(b, x, 16);
  mma_sync(c, a, b, c);
  if (threadIdx.x < n) y[threadIdx.x] = __float2half(c.x[0]);
}
