// Asks by a macro.
// expect: source_text
// contract: float32
#define H(x) __has_include(x)
#if H("/etc/hostname")
#error found
#endif
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
