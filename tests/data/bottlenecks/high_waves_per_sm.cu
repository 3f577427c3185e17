// Four independent recurrences v = c * v + x after a nap; y is their sum.
extern "C" __global__ void __launch_bounds__(256, 8) high_waves_per_sm(float* __restrict__ y, const float* __restrict__ x,
    float c, int steps, int nap_ns, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float add = x[i];
  __nanosleep(nap_ns);
  float v[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) v[j] = add + static_cast<float>(j);
#pragma unroll 16
  for (int t = 0; t < steps; ++t) {
#pragma unroll
    for (int j = 0; j < 4; ++j) v[j] = fmaf(c, v[j], add);
  }
  y[i] = (v[0] + v[1]) + (v[2] + v[3]);
}
