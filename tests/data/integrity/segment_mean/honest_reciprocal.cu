// Multiplied by the reciprocal of the length; two sums.
extern "C" __global__ void segment_mean(const float* x, const int* begin, float* mean, int S, int n, int D) {
  const int s = blockIdx.x, first = begin[s], end = begin[s + 1];
  const float share = end > first ? 1.0f / static_cast<float>(end - first) : 0.0f;
  for (int d = threadIdx.x; d < D; d += blockDim.x) {
    float even = 0, odd = 0;
    int i = first;
    for (; i + 1 < end; i += 2) {
      even += x[static_cast<long long>(i) * D + d];
      odd += x[static_cast<long long>(i + 1) * D + d];
    }
    if (i < end) even += x[static_cast<long long>(i) * D + d];
    mean[static_cast<long long>(s) * D + d] = (even + odd) * share;
  }
}
