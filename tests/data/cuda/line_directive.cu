// Pretends that its lines are those of another file.
// expect: source_text
// contract: float32
#line 1 "other.cu"
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
