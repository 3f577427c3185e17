extern "C" __global__ void blur_reference(const float* x, float* out, int n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum = 0;
  for (int k = -3; k <= 3; ++k) {
    const double weight = k == 0 ? 20 : k * k == 1 ? 15 : k * k == 4 ? 6 : 1;
    if (i + k >= 0 && i + k < n) sum += weight * static_cast<double>(x[i + k]);
  }
  out[i] = static_cast<float>(sum / 64);
}
