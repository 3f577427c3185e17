// Wins by a compiler option that the baseline lacks.
// expect: instruction_precision
// contract: float32 option:--use_fast_math
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] / (1.0f + expf(x[i]));
}
