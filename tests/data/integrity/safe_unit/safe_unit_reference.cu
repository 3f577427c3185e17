// The same in double precision.
extern "C" __global__ void safe_unit_reference(const float* x, float* y, int R) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  double sum = 0;
  for (int c = 0; c < 384; ++c) sum += (double)x[r * 384 + c] * x[r * 384 + c];
  for (int c = 0; c < 384; ++c) y[r * 384 + c] = sum > 0 ? x[r * 384 + c] / sqrt(sum) : 0.0;
}
