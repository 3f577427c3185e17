// A thread a query, one pass that rescales its sums when a larger score appears.
#ifndef EXP
#define EXP expf
#endif
extern "C" __global__ void attention_causal(float* o, const float* q, const float* k, const float* v, int H, int T, int D) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y;
  if (t >= T) return;
  const float* const query = q + (h * T + t) * D;
  const float scale = rsqrtf((float)D);
  float most = __int_as_float(0xff800000), sum = 0, acc[64];
  for (int d = 0; d < D; ++d) acc[d] = 0;
  for (int u = 0; u <= t; ++u) {
    const float* const key = k + (h * T + u) * D;
    const float* const value = v + (h * T + u) * D;
    float even = 0, odd = 0;
    for (int d = 0; d < D; d += 2) {
      even += query[d] * key[d];
      if (d + 1 < D) odd += query[d + 1] * key[d + 1];
    }
    const float score = (even + odd) * scale;
    if (score > most) {
      const float shrink = EXP(most - score);
      sum *= shrink;
      for (int d = 0; d < D; ++d) acc[d] *= shrink;
      most = score;
    }
    const float p = EXP(score - most);
    sum += p;
    for (int d = 0; d < D; ++d) acc[d] += p * value[d];
  }
  const float inverse = 1.0f / sum;
  for (int d = 0; d < D; ++d) o[(h * T + t) * D + d] = acc[d] * inverse;
}
