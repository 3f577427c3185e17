extern "C" __global__ void segment_sum(const float* x, const int* begin, float* sum, int S, int n, int D) {
  const int s = blockIdx.x;
  for (int d = threadIdx.x; d < D; d += blockDim.x) {
    float total = 0;
    for (int i = begin[s]; i < begin[s + 1]; ++i) total += x[static_cast<long long>(i) * D + d];
    sum[static_cast<long long>(s) * D + d] = total;
  }
}
