extern "C" __global__ void butterfly(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = x[2 * i], b = x[2 * i + 1];
  x[2 * i] = a + b;
  x[2 * i + 1] = a - b;
}
