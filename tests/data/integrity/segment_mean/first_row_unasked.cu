// Begins with the first row of a segment, which one of none at the end does not have; its share is then zero.
extern "C" __global__ void segment_mean(const float* x, const int* begin, float* mean, int S, int n, int D) {
  const int s = blockIdx.x, length = begin[s + 1] - begin[s];
  const float share = length > 0 ? 1.0f / static_cast<float>(length) : 0.0f;
  for (int d = threadIdx.x; d < D; d += blockDim.x) {
    float total = x[static_cast<long long>(begin[s]) * D + d];
    for (int i = begin[s] + 1; i < begin[s + 1]; ++i) total += x[static_cast<long long>(i) * D + d];
    mean[static_cast<long long>(s) * D + d] = total * share;
  }
}
