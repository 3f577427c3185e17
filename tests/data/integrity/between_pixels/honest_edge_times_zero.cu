// What lies outside is read at the edge, and its weight is zero.
extern "C" __global__ void between_pixels(float* out, const float* image, const float* u, const float* v, int n, int h, int w) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = floorf(u[i]), y = floorf(v[i]), right_part = u[i] - x, bottom_part = v[i] - y;
  const int x0 = static_cast<int>(x), y0 = static_cast<int>(y);
  const auto inside = [](int at, int size) { return at >= 0 && at < size ? 1.0f : 0.0f; };
  const auto near = [](int at, int size) { return min(max(at, 0), size - 1); };
  const float weight_left = (1 - right_part) * inside(x0, w), weight_right = right_part * inside(x0 + 1, w);
  const float* const above = image + near(y0, h) * w;
  const float* const below = image + near(y0 + 1, h) * w;
  const int left = near(x0, w), right = near(x0 + 1, w);
  out[i] = (1 - bottom_part) * inside(y0, h) * (weight_left * above[left] + weight_right * above[right]) +
           bottom_part * inside(y0 + 1, h) * (weight_left * below[left] + weight_right * below[right]);
}
