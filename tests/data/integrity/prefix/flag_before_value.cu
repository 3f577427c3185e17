// Blocks take tickets and wait for the flag of the ticket before, which is set before its prefix is there.
// state: ticket, finished, then by ticket a flag and a prefix.
extern "C" __global__ void prefix(const int* x, int* out, int* state, int n) {
  __shared__ unsigned sums[256], before;
  __shared__ int ticket;
  __shared__ bool last;
  if (threadIdx.x == 0) ticket = atomicAdd(state, 1);
  __syncthreads();
  const int at = ticket * 256 + threadIdx.x;
  const unsigned value = at < n ? static_cast<unsigned>(x[at]) : 0;
  sums[threadIdx.x] = value;
  __syncthreads();
  for (unsigned step = 1; step < 256; step *= 2) {
    const unsigned other = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
    __syncthreads();
    sums[threadIdx.x] += other;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    volatile int* const own = state + 2 + 2 * ticket;
    before = 0;
    if (ticket > 0) {
      while (own[-2] == 0) {
      }
      __threadfence();
      before = static_cast<unsigned>(own[-1]);
    }
    __threadfence();
    own[0] = 1;
    own[1] = static_cast<int>(before + sums[255]);
  }
  __syncthreads();
  if (at < n) out[at] = static_cast<int>(before + sums[threadIdx.x]);
  if (threadIdx.x == 0) last = atomicAdd(state + 1, 1) == static_cast<int>(gridDim.x) - 1;
  __syncthreads();
  if (!last) return;
  for (int i = threadIdx.x; i < 2 * static_cast<int>(gridDim.x) + 2; i += 256) state[i] = 0;
}
