extern "C" __global__ void zero_points_reference(float* y, const unsigned char* q, const float* scale, const unsigned char* zero, const float* x, int n, int k) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  double sum = 0;
  for (int i = 0; i < k; ++i) {
    const int byte = q[row * (k / 2) + i / 2], group = row * (k / 32) + i / 32;
    sum += static_cast<double>((i % 2 == 0 ? byte & 15 : byte >> 4) - zero[group]) * scale[group] * x[i];
  }
  y[row] = static_cast<float>(sum);
}
