extern "C" __global__ void padded_bag(const float* table, const int* place, float* sum, int B, int K, int V, int D) {
  const int b = blockIdx.x;
  for (int d = threadIdx.x; d < D; d += blockDim.x) {
    float total = 0;
    for (int k = 0; k < K; ++k) {
      const int v = place[b * K + k];
      if (v >= 0) total += table[static_cast<long long>(v) * D + d];
    }
    sum[static_cast<long long>(b) * D + d] = total;
  }
}
