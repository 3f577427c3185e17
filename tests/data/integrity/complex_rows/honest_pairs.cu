// Pairs, fused.
extern "C" __global__ void complex_rows(const float* x, const float* w, float* y, int R) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= R * 128) return;
  const float2 pair = ((const float2*)x)[i];
  const float re = pair.x, im = pair.y, c = w[i % 128 * 2], s = w[i % 128 * 2 + 1];
  y[i * 2] = fmaf(re, c, -(im * s));
  y[i * 2 + 1] = fmaf(im, c, re * s);
}
