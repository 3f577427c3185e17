// Uses the device heap, which outlives the launch.
// expect: ptx_rules
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float* p = (float*)malloc(16);
  if (p) { *p = x[0]; y[0] = *p; }
}
