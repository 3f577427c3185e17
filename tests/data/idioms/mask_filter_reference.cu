extern "C" __global__ void mask_filter_reference(float* out, const float* in, const float* mask, int height, int width,
                                                 int k) {
  const long long o = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (o >= static_cast<long long>(height) * width) return;
  const int y = static_cast<int>(o / width) - k / 2, x = static_cast<int>(o % width) - k / 2;
  double sum = 0;
  for (int i = max(0, -y); i < min(k, height - y); ++i)
    for (int j = max(0, -x); j < min(k, width - x); ++j)
      sum += static_cast<double>(in[static_cast<long long>(y + i) * width + x + j]) * mask[i * k + j];
  out[o] = static_cast<float>(sum);
}
