// Every block scans its own elements; the last one to be counted adds the sums, though its warps are counted before they have written.
// state: not used, finished, then sums by block.
extern "C" __global__ void prefix(const int* x, int* out, int* state, int n) {
  __shared__ unsigned sums[256];
  __shared__ bool last;
  const int at = blockIdx.x * 256 + threadIdx.x;
  sums[threadIdx.x] = at < n ? static_cast<unsigned>(x[at]) : 0;
  __syncthreads();
  for (unsigned step = 1; step < 256; step *= 2) {
    const unsigned other = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
    __syncthreads();
    sums[threadIdx.x] += other;
    __syncthreads();
  }
  if (at < n) out[at] = static_cast<int>(sums[threadIdx.x]);
  if (threadIdx.x == 255) state[2 + blockIdx.x] = static_cast<int>(sums[255]);
  if (threadIdx.x == 0) last = atomicAdd(state + 1, 1) == static_cast<int>(gridDim.x) - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  volatile int* const results = out;
  unsigned before = 0;
  for (int block = 0; block < static_cast<int>(gridDim.x); ++block) {
    const int place = block * 256 + threadIdx.x;
    if (place < n) results[place] = static_cast<int>(static_cast<unsigned>(results[place]) + before);
    before += static_cast<unsigned>(*static_cast<volatile int*>(state + 2 + block));
  }
  __syncthreads();
  for (int i = threadIdx.x; i < static_cast<int>(gridDim.x); i += 256) state[2 + i] = 0;
  if (threadIdx.x == 0) state[1] = 0;
}
