extern "C" __global__ void bilinear_resize_reference(float* out, const float* in, int planes, int h, int w, int oh, int ow) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<long long>(planes) * oh * ow) return;
  const float* plane = in + i / (static_cast<long long>(oh) * ow) * h * w;
  const double y = fmin(fmax((i / ow % oh + 0.5) * h / oh - 0.5, 0.0), h - 1.0);
  const double x = fmin(fmax((i % ow + 0.5) * w / ow - 0.5, 0.0), w - 1.0);
  double sum = 0;
  for (int r = static_cast<int>(y); r <= static_cast<int>(y) + 1 && r < h; ++r) {
    const double a = fmax(1 - fabs(y - r), 0.0);
    for (int c = static_cast<int>(x); c <= static_cast<int>(x) + 1 && c < w; ++c)
      sum += a * fmax(1 - fabs(x - c), 0.0) * plane[r * w + c];
  }
  out[i] = static_cast<float>(sum);
}
