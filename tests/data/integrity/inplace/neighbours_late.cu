// A thread does its right neighbour's element as well: who is first is not said.
extern "C" __global__ void inplace(const float* x, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = i; k < i + 2 && k < n; ++k) out[k] = a * x[k] * x[k] + x[k];
}
