extern "C" __global__ void fir_reference(const float* x, const float* taps, float* y, int n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum = 0;
  for (int k = 41; k >= 0; --k) sum += static_cast<double>(x[i + k]) * static_cast<double>(taps[k]);
  y[i] = static_cast<float>(sum);
}
