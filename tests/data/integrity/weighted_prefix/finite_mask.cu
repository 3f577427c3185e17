// A number in place of -infinity outweighs scores that are below it.
extern "C" __global__ void weighted_prefix(const float* q, const float* k, const float* v, const int* length, float* mean, int S, int D, int B) {
  extern __shared__ float score[];
  const int b = blockIdx.x, n = length[b], lane = threadIdx.x;
  const float scale = rsqrtf((float)D);
  for (int s = lane; s < S; s += 32) {
    float sum = 0;
    for (int d = 0; d < D; ++d)
      sum += q[(long long)b * D + d] * k[((long long)b * S + s) * D + d];
    score[s] = s < n ? sum * scale : -10000.0f;
  }
  float most = -INFINITY;
  for (int s = lane; s < S; s += 32) most = fmaxf(most, score[s]);
  for (int h = 16; h > 0; h /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, h));
  float weights = 0, sum = 0;
  for (int s = lane; s < S; s += 32) {
    const float weight = expf(score[s] - most);
    weights += weight;
    sum += weight * v[(long long)b * S + s];
  }
  for (int h = 16; h > 0; h /= 2) {
    weights += __shfl_xor_sync(0xffffffffu, weights, h);
    sum += __shfl_xor_sync(0xffffffffu, sum, h);
  }
  if (lane == 0) mean[b] = sum / weights;
}
