// A warp a query: every lane takes each 32nd key, the lanes' sums are merged by shuffles.
extern "C" __global__ void attention_causal(float* o, const float* q, const float* k, const float* v, int H, int T, int D) {
  const int t = blockIdx.x * 4 + threadIdx.x / 32, h = blockIdx.y, lane = threadIdx.x % 32;
  if (t >= T) return;
  const float* const query = q + (h * T + t) * D;
  const float scale = 1.0f / sqrtf((float)D);
  float most = -1e30f, sum = 0, acc[64];
  for (int d = 0; d < D; ++d) acc[d] = 0;
  for (int u = lane; u <= t; u += 32) {
    float score = 0;
    for (int d = 0; d < D; ++d) score += query[d] * k[(h * T + u) * D + d];
    score *= scale;
    const float next = fmaxf(most, score), shrink = __expf(most - next), p = __expf(score - next);
    sum = sum * shrink + p;
    for (int d = 0; d < D; ++d) acc[d] = acc[d] * shrink + p * v[(h * T + u) * D + d];
    most = next;
  }
  float all = most;
  for (int offset = 16; offset > 0; offset /= 2) all = fmaxf(all, __shfl_xor_sync(0xffffffffu, all, offset));
  const float shrink = __expf(most - all);
  sum *= shrink;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  for (int d = 0; d < D; ++d) {
    float x = acc[d] * shrink;
    for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(0xffffffffu, x, offset);
    if (lane == 0) o[(h * T + t) * D + d] = __fdividef(x, sum);
  }
}
