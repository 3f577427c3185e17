// A thread does its right neighbour's element as well: who is first is not said.
extern "C" __global__ void in_place(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = i; k < i + 2 && k < n; ++k) out[k] = 2 * fmaxf(x[k], 0) - 1;
}
