// A row of which every element is looked at and found in order has none.
extern "C" __global__ void inversions(const int* x, int* count, int R, int C) {
  __shared__ int all;
  const int* row = x + (size_t)blockIdx.x * C;
  if (threadIdx.x == 0) all = 0;
  bool ordered = true;
  for (int c = threadIdx.x; c + 1 < C; c += blockDim.x) ordered = ordered && row[c] <= row[c + 1];
  if (__syncthreads_and(ordered)) {
    if (threadIdx.x == 0) count[blockIdx.x] = 0;
    return;
  }
  int own = 0;
  for (int b = threadIdx.x; b < C; b += blockDim.x) {
    for (int a = 0; a < b; ++a) own += row[a] > row[b];
  }
  atomicAdd(&all, own);
  __syncthreads();
  if (threadIdx.x == 0) count[blockIdx.x] = all;
}
