// Eight independent recurrences v = c * v + x from x, x + 1, ..., x + 7; y is their sum.
extern "C" __global__ void __launch_bounds__(1024) low_waves_per_sm(float* __restrict__ y, const float* __restrict__ x, float c, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float add = x[i];
  float v[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) v[j] = add + static_cast<float>(j);
#pragma unroll 8
  for (int t = 0; t < steps; ++t) {
#pragma unroll
    for (int j = 0; j < 8; ++j) v[j] = fmaf(c, v[j], add);
  }
  y[i] = ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}
