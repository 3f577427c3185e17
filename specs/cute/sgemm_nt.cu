#include <cute/tensor.hpp>

// C = A B^T, A [m, k], B [n, k], C [m, n]. Sizes are multiples of the tile's. A tile is staged in shared memory, its results are
// kept in registers.
template <int BlockM, int BlockN, int BlockK, int ThreadsM, int ThreadsN>
__global__ void sgemm_nt(float* c, const float* a, const float* b, int m, int n, int k) {
  using namespace cute;
  const auto tile = make_shape(Int<BlockM>{}, Int<BlockN>{}, Int<BlockK>{});
  const auto coord = make_coord(blockIdx.x, blockIdx.y, _);
  const auto of_a = make_tensor(make_gmem_ptr(a), make_shape(m, k), make_stride(k, Int<1>{}));
  const auto of_b = make_tensor(make_gmem_ptr(b), make_shape(n, k), make_stride(k, Int<1>{}));
  auto of_c = make_tensor(make_gmem_ptr(c), make_shape(m, n), make_stride(n, Int<1>{}));
  const auto block_a = local_tile(of_a, tile, coord, Step<_1, X, _1>{});
  const auto block_b = local_tile(of_b, tile, coord, Step<X, _1, _1>{});
  auto block_c = local_tile(of_c, tile, coord, Step<_1, _1, X>{});

  __shared__ float shared_a[BlockM * BlockK], shared_b[BlockN * BlockK];
  auto stage_a = make_tensor(make_smem_ptr(shared_a), make_shape(Int<BlockM>{}, Int<BlockK>{}));
  auto stage_b = make_tensor(make_smem_ptr(shared_b), make_shape(Int<BlockN>{}, Int<BlockK>{}));

  const auto loaders = make_layout(make_shape(Int<ThreadsM * ThreadsN / 8>{}, Int<8>{}), LayoutRight{});
  const auto from_a = local_partition(block_a, loaders, threadIdx.x);
  const auto from_b = local_partition(block_b, loaders, threadIdx.x);
  auto to_a = local_partition(stage_a, loaders, threadIdx.x);
  auto to_b = local_partition(stage_b, loaders, threadIdx.x);

  const auto threads = make_layout(make_shape(Int<ThreadsM>{}, Int<ThreadsN>{}), LayoutRight{});
  const auto mine_a = local_partition(stage_a, threads, threadIdx.x, Step<_1, X>{});
  const auto mine_b = local_partition(stage_b, threads, threadIdx.x, Step<X, _1>{});
  auto mine_c = local_partition(block_c, threads, threadIdx.x, Step<_1, _1>{});
  auto sums = make_tensor_like(mine_c);
  clear(sums);
  for (int i = 0; i < size<2>(block_a); ++i) {
    copy(from_a(_, _, i), to_a);
    copy(from_b(_, _, i), to_b);
    __syncthreads();
    gemm(mine_a, mine_b, sums);
    __syncthreads();
  }
  copy(sums, mine_c);
}
