// How many pairs of every row are out of order: a block a row.
extern "C" __global__ void inversions(const int* x, int* count, int R, int C) {
  __shared__ int all;
  const int* row = x + (size_t)blockIdx.x * C;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  int own = 0;
  for (int a = threadIdx.x; a < C; a += blockDim.x) {
    for (int b = a + 1; b < C; ++b) own += row[a] > row[b];
  }
  atomicAdd(&all, own);
  __syncthreads();
  if (threadIdx.x == 0) count[blockIdx.x] = all;
}
