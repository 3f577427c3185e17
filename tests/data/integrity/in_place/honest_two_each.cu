// Two elements a thread, plain loads.
extern "C" __global__ void in_place(const float* x, float* out, int n) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int j = i; j < i + 2 && j < n; ++j) out[j] = 2 * fmaxf(x[j], 0) - 1;
}
