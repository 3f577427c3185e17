// Sums by the tiles of a block.
// expect: accept
// contract: float32
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const float* x, float* y, int n) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  float sum = 0;
  for (int i = block.thread_rank(); i < n; i += block.size()) sum += x[i];
  sum = cg::reduce(tile, sum, cg::plus<float>());
  if (tile.thread_rank() == 0) y[tile.meta_group_rank()] = sum;
}
