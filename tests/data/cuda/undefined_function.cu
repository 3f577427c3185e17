// Declares a function that nobody defines.
// expect: compile_error
// contract: float32
extern "C" __device__ float elsewhere(float v);
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = elsewhere(x[i]);
}
