// Weights are relative to the greatest score of the prefix.
extern "C" __global__ void weighted_prefix_reference(const float* q, const float* k, const float* v, const int* length, float* mean, int S, int D, int B) {
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= B) return;
  double most = -INFINITY, weights = 0, sum = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int s = 0; s < length[b]; ++s) {
      double score = 0;
      for (int d = 0; d < D; ++d)
        score += (double)q[(long long)b * D + d] * k[((long long)b * S + s) * D + d];
      score /= sqrt((double)D);
      if (pass == 0) {
        most = fmax(most, score);
      } else {
        weights += exp(score - most);
        sum += exp(score - most) * v[(long long)b * S + s];
      }
    }
  }
  mean[b] = sum / weights;
}
