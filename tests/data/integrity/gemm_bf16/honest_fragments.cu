// Tensor cores, added in float.
#include <cuda_bf16.h>
#include <mma.h>
extern "C" __global__ void gemm_bf16(const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C, int M, int N, int K) {
  using namespace nvcuda::wmma;
  __shared__ float tile[16][16];
  const int row0 = blockIdx.y * 16, column0 = blockIdx.x * 16;
  fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> a;
  fragment<matrix_b, 16, 16, 16, __nv_bfloat16, col_major> b;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  for (int k = 0; k < K; k += 16) {
    load_matrix_sync(a, A + row0 * K + k, K);
    load_matrix_sync(b, B + column0 * K + k, K);
    mma_sync(sum, a, b, sum);
  }
  store_matrix_sync(&tile[0][0], sum, 16, mem_row_major);
  __syncwarp();
  for (int e = threadIdx.x; e < 256; e += 32) C[(row0 + e / 16) * N + column0 + e % 16] = __float2bfloat16(tile[e / 16][e % 16]);
}
