// Streaming loads and stores.
// expect: accept
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) __stcs(y + i, 2.0f * __ldcs(x + i));
}
