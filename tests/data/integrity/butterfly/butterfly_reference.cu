extern "C" __global__ void butterfly_reference(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double a = x[2 * i], b = x[2 * i + 1];
  x[2 * i] = static_cast<float>(a + b);
  x[2 * i + 1] = static_cast<float>(a - b);
}
