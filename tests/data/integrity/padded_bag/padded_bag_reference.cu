extern "C" __global__ void padded_bag_reference(const float* table, const int* place, float* sum, int B, int K, int V, int D) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= B * D) return;
  double total = 0;
  for (int k = 0; k < K; ++k) {
    const int v = place[at / D * K + k];
    if (v >= 0) total += table[static_cast<long long>(v) * D + at % D];
  }
  sum[at] = static_cast<float>(total);
}
