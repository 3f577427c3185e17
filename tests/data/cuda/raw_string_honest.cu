// A raw string that looks like a directive.
// expect: accept
// contract: float32
__device__ const char* unused = R"(
#include "/etc/hostname"
)";
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
