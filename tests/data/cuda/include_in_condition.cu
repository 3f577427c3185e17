// The same, inside a condition.
// expect: source_text
// contract: float32
#if 1
  #  include "/etc/hostname"
#endif
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
