// Beyond the edge the edge's own numbers go on in place of zeros.
extern "C" __global__ void between_pixels(float* out, const float* image, const float* u, const float* v, int n, int h, int w) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = floorf(u[i]), y = floorf(v[i]), right_part = u[i] - x, bottom_part = v[i] - y;
  const int left = min(max(static_cast<int>(x), 0), w - 1), right = min(max(static_cast<int>(x) + 1, 0), w - 1),
            top = min(max(static_cast<int>(y), 0), h - 1), bottom = min(max(static_cast<int>(y) + 1, 0), h - 1);
  const float above = image[top * w + left] * (1 - right_part) + image[top * w + right] * right_part,
              below = image[bottom * w + left] * (1 - right_part) + image[bottom * w + right] * right_part;
  out[i] = above * (1 - bottom_part) + below * bottom_part;
}
