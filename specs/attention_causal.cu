// o[h, t, :] = sum_{u <= t} softmax_u(q[h, t, :] . k[h, u, :] / sqrt(D)) v[h, u, :]. All tensors:
// [H, T, D], D <= MAX_D. One thread a query: one pass over the keys for the largest score, one for
// the weighted sum.
#define MAX_D 64

extern "C" __global__ void attention_causal(
    float* o, float* q, float* k, float* v, int H, int T, int D) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int h = blockIdx.y;
  if (t >= T) return;
  float* query = q + (h * T + t) * D;
  float scale = 1.0f / sqrtf((float)D);

  float max_score = -1e30f;
  for (int u = 0; u <= t; u++) {
    float score = 0.0f;
    for (int d = 0; d < D; d++) {
      score += query[d] * k[(h * T + u) * D + d];
    }
    max_score = fmaxf(max_score, score * scale);
  }

  float acc[MAX_D];
  for (int d = 0; d < D; d++) {
    acc[d] = 0.0f;
  }
  float sum = 0.0f;
  for (int u = 0; u <= t; u++) {
    float score = 0.0f;
    for (int d = 0; d < D; d++) {
      score += query[d] * k[(h * T + u) * D + d];
    }
    float p = expf(score * scale - max_score);
    sum += p;
    for (int d = 0; d < D; d++) {
      acc[d] += p * v[(h * T + u) * D + d];
    }
  }

  for (int d = 0; d < D; d++) {
    o[(h * T + t) * D + d] = acc[d] / sum;
  }
}
