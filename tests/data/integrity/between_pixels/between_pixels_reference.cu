extern "C" __global__ void between_pixels_reference(float* out, const float* image, const float* u, const float* v, int n, int h, int w) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int left = static_cast<int>(floor(static_cast<double>(u[i]))), top = static_cast<int>(floor(static_cast<double>(v[i])));
  double sum = 0;
  for (int dy = 0; dy < 2; ++dy) {
    for (int dx = 0; dx < 2; ++dx) {
      const int x = left + dx, y = top + dy;
      if (x < 0 || x >= w || y < 0 || y >= h) continue;
      sum += (1 - fabs(static_cast<double>(u[i]) - x)) * (1 - fabs(static_cast<double>(v[i]) - y)) * image[y * w + x];
    }
  }
  out[i] = static_cast<float>(sum);
}
