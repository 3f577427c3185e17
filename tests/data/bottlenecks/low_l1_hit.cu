// Sums of `steps` rows of a table of 131072 rows of 32 floats, in an order that looks random; a warp reads a
// whole row. steps is a multiple of 4.
extern "C" __global__ void low_l1_hit(float* __restrict__ y, const float* __restrict__ table, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned warp = i / 32, lane = i % 32;
  float sum = 0.0f;
#pragma unroll 1
  for (int t = 0; t < steps; t += 4) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const unsigned row = ((warp * steps + t + k) * 2654435761u) >> 15;
      sum += table[row * 32 + lane];
    }
  }
  y[i] = sum;
}
