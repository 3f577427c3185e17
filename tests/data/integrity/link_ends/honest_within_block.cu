// Ways within a block are doubled in shared memory, eight times for its 128 places, then followed.
extern "C" __global__ void link_ends(const int* link, int* end, int n) {
  __shared__ int way[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.x * blockDim.x;
  int at = i < n ? min(link[i], i) : i;
  way[threadIdx.x] = at;
  __syncthreads();
  for (int round = 0; round < 8; ++round) {
    const int next = at >= first ? way[at - first] : at;
    __syncthreads();
    way[threadIdx.x] = at = next;
    __syncthreads();
  }
  if (i >= n) return;
  while (link[at] < at) at = link[at];
  end[i] = at;
}
