// One flat index over the queries; one pass in fp64 that rescales the sums whenever a larger score
// appears.
extern "C" __global__ void attention_causal_reference(
    float* o, const float* q, const float* k, const float* v, int H, int T, int D) {
  const long long query = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (query >= static_cast<long long>(H) * T) return;
  const long long first = query / T * T;  // key 0 of this head
  double weighted[64] = {};
  double total = 0;
  double largest = -1e300;
  for (long long key = first; key <= query; ++key) {
    double score = 0;
    for (int d = 0; d < D; ++d)
      score += static_cast<double>(q[query * D + d]) * static_cast<double>(k[key * D + d]);
    score /= sqrt(static_cast<double>(D));
    if (score > largest) {
      const double shrink = exp(largest - score);
      total *= shrink;
      for (int d = 0; d < D; ++d) weighted[d] *= shrink;
      largest = score;
    }
    const double weight = exp(score - largest);
    total += weight;
    for (int d = 0; d < D; ++d) weighted[d] += weight * static_cast<double>(v[key * D + d]);
  }
  for (int d = 0; d < D; ++d) o[query * D + d] = static_cast<float>(weighted[d] / total);
}
