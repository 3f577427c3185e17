// The input through the read-only path, the output by plain loads; the output's alignment decides where the input is read in fours.
// expect: accept
// contract: float32
__device__ __noinline__ float fetch(const float* __restrict__ p, long long i) { return __ldg(p + i); }
__device__ __noinline__ void store(float* p, long long i, float v) { p[i] += v; }
extern "C" __global__ void k(const float* __restrict__ x, float* y, int n) {
  const int head = static_cast<int>((16 - (reinterpret_cast<unsigned long long>(y) & 15)) & 15) / 4;
  const long long i = head + 4LL * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) store(y, i, fetch(x, i + head) + x[i]);
  const long long apart = y - x;
  if (apart > n && i < n) y[i] = x[i + apart % 4];
}
