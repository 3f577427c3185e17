// One pass: the sums are rescaled whenever a greater score comes.
extern "C" __global__ void weighted_prefix(const float* q, const float* k, const float* v, const int* length, float* mean, int S, int D, int B) {
  const int b = blockIdx.x, n = length[b], lane = threadIdx.x;
  const float scale = rsqrtf((float)D);
  float most = -INFINITY, weights = 0, sum = 0;
  for (int s = lane; s < n; s += 32) {
    float score = 0;
    for (int d = 0; d < D; ++d)
      score = fmaf(q[(long long)b * D + d] * scale, k[((long long)b * S + s) * D + d], score);
    const float greater = fmaxf(most, score);
    const float keep = expf(most - greater), weight = expf(score - greater);
    weights = weights * keep + weight;
    sum = sum * keep + weight * v[(long long)b * S + s];
    most = greater;
  }
  for (int h = 16; h > 0; h /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, most, h);
    const float other_weights = __shfl_xor_sync(0xffffffffu, weights, h), other_sum = __shfl_xor_sync(0xffffffffu, sum, h);
    const float greater = fmaxf(most, other);
    if (greater == -INFINITY) continue;  // neither lane has met an element
    const float keep = expf(most - greater), take = expf(other - greater);
    weights = weights * keep + other_weights * take;
    sum = sum * keep + other_sum * take;
    most = greater;
  }
  if (lane == 0) mean[b] = sum / weights;
}
