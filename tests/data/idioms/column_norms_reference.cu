extern "C" __global__ void column_norms_reference(float* norms, const float* a, int rows, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  double sum = 0;
  for (long long r = 0; r < rows; ++r) sum += static_cast<double>(a[r * cols + c]) * a[r * cols + c];
  norms[c] = static_cast<float>(sqrt(sum));
}
