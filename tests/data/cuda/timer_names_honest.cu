// Names of functions and comments reach the PTX text.
// expect: accept
// contract: float32
// evict_last globaltimer createpolicy
__device__ __noinline__ float clock64_evict_last(float v) { return 2.0f * v; }
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = clock64_evict_last(x[i]);
}
