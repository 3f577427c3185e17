// A block a query: scores in shared memory, in units of log2(e), then a thread a column.
extern "C" __global__ void attention_causal(float* o, const float* q, const float* k, const float* v, int H, int T, int D) {
  __shared__ float score[2048], part[128];
  const int t = blockIdx.x, h = blockIdx.y;
  const float* const query = q + (h * T + t) * D;
  const float scale = 1.4426950408889634f / sqrtf((float)D);
  float most = __int_as_float(0xff800000);
  for (int u = threadIdx.x; u <= t; u += 128) {
    const float* const key = k + (h * T + u) * D;
    float dot = 0;
    for (int d = 0; d < D; ++d) dot = fmaf(query[d] * scale, key[d], dot);
    score[u] = dot;
    most = fmaxf(most, dot);
  }
  part[threadIdx.x] = most;
  __syncthreads();
  for (int i = 0; i < 128; ++i) most = fmaxf(most, part[i]);
  __syncthreads();
  float sum = 0;
  for (int u = threadIdx.x; u <= t; u += 128) sum += score[u] = exp2f(score[u] - most);
  part[threadIdx.x] = sum;
  for (int stride = 64; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
  }
  __syncthreads();
  const float inverse = 1.0f / part[0];
  for (int d = threadIdx.x; d < D; d += 128) {
    float acc = 0;
    for (int u = 0; u <= t; ++u) acc += score[u] * v[(h * T + u) * D + d];
    o[(h * T + t) * D + d] = acc * inverse;
  }
}
