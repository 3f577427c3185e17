// y[i]: sum over eight places n / 8 apart, three neighbours each. n is a power of two, indices wrap.
extern "C" __global__ void low_l2_hit(float* __restrict__ y, const float* __restrict__ x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int at = i + k * (n / 8);
    sum += x[at & (n - 1)] + x[(at + 1) & (n - 1)] + x[(at + 2) & (n - 1)];
  }
  y[i] = sum;
}
