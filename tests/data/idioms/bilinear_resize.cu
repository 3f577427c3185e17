// Enlarges images with bilinear weights, a thread an element of the result.
__device__ float mix(float a, float b, float t) {
  return a + (b - a) * t;
}

__device__ float sample(const float* plane, int h, int w, float y, float x) {
  y = fminf(fmaxf(y, 0.0f), (float)(h - 1));
  x = fminf(fmaxf(x, 0.0f), (float)(w - 1));
  int y0 = (int)y;
  int x0 = (int)x;
  int y1 = y0 + 1 < h ? y0 + 1 : y0;
  int x1 = x0 + 1 < w ? x0 + 1 : x0;
  float top = mix(plane[y0 * w + x0], plane[y0 * w + x1], x - x0);
  float bottom = mix(plane[y1 * w + x0], plane[y1 * w + x1], x - x0);
  return mix(top, bottom, y - y0);
}

extern "C" __global__ void bilinear_resize(float* out, const float* in, int planes, int h, int w, int oh, int ow) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= planes * oh * ow) return;
  int ox = idx % ow;
  int oy = idx / ow % oh;
  int p = idx / (ow * oh);
  float y = (oy + 0.5f) * ((float)h / oh) - 0.5f;
  float x = (ox + 0.5f) * ((float)w / ow) - 0.5f;
  out[idx] = sample(in + p * h * w, h, w, y, x);
}
