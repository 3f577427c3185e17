extern "C" __global__ void rbf_sum_reference(float* f, const float* px, const float* py, const float* cx, const float* cy,
                                             const float* width, const float* weight, int points, int centres) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= points) return;
  double sum = 0;
  for (int j = 0; j < centres; ++j) {
    const double dx = static_cast<double>(px[i]) - cx[j], dy = static_cast<double>(py[i]) - cy[j], w = width[j];
    sum += weight[j] * sqrt(w) * exp(-(dx * dx + dy * dy) / (2 * w * w));
  }
  f[i] = static_cast<float>(sum);
}
