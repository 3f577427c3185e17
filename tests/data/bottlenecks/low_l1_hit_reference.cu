extern "C" __global__ void low_l1_hit_reference(float* y, const float* table, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum = 0;
  for (unsigned t = 0; t < steps; ++t) sum += table[((((i / 32) * steps + t) * 2654435761u) >> 15) * 32 + i % 32];
  y[i] = static_cast<float>(sum);
}
