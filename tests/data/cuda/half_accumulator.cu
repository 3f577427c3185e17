// Accumulates matrix products in half precision.
// expect: instruction_precision
// contract: float16
#include <mma.h>
extern "C" __global__ void k(const __half* x, __half* y, int n) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> a;
  fragment<matrix_b, 16, 16, 16, __half, col_major> b;
  fragment<accumulator, 16, 16, 16, __half> c;
  fill_fragment(c, __half(0.0f));
  load_matrix_sync(a, x, 16);
  load_matrix_sync(b, x, 16);
  mma_sync(c, a, b, c);
  store_matrix_sync(y, c, 16, mem_row_major);
}
