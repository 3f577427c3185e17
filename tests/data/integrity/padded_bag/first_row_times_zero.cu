// A place that is none reads the first row, with a weight of zero: NaN where that is infinite.
extern "C" __global__ void padded_bag(const float* table, const int* place, float* sum, int B, int K, int V, int D) {
  const int b = blockIdx.x;
  for (int d = threadIdx.x; d < D; d += blockDim.x) {
    float total = 0;
    for (int k = 0; k < K; ++k) {
      const int v = place[b * K + k];
      total += (v >= 0 ? 1.0f : 0.0f) * table[static_cast<long long>(max(v, 0)) * D + d];
    }
    sum[static_cast<long long>(b) * D + d] = total;
  }
}
