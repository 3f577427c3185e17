// Rounds towards zero: between -1 and 0 the weights are those of the other side.
extern "C" __global__ void between_pixels(float* out, const float* image, const float* u, const float* v, int n, int h, int w) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int left = static_cast<int>(u[i]), top = static_cast<int>(v[i]);
  const float right_part = u[i] - left, bottom_part = v[i] - top;
  float sum = 0;
  for (int dy = 0; dy < 2; ++dy) {
    for (int dx = 0; dx < 2; ++dx) {
      const int x = left + dx, y = top + dy;
      if (x < 0 || x >= w || y < 0 || y >= h) continue;
      sum += (dx == 0 ? 1 - right_part : right_part) * (dy == 0 ? 1 - bottom_part : bottom_part) * image[y * w + x];
    }
  }
  out[i] = sum;
}
