// A warp a group: a running mean and sum of squares a lane (Welford 1962), merged (Chan, Golub and LeVeque 1979).
extern "C" __global__ void groupnorm_silu(float* o, const float* x, const float* w, const float* b, int B, int C, int HW, int G) {
  const int group = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (group >= B * G) return;
  const int channels = C / G, size = channels * HW, start = group * size;
  float count = 0, mean = 0, m2 = 0;
  for (int i = lane; i < size; i += 32) {
    count += 1;
    const float d = x[start + i] - mean;
    mean += d / count;
    m2 += d * (x[start + i] - mean);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, count, offset), mean2 = __shfl_xor_sync(0xffffffffu, mean, offset);
    m2 += __shfl_xor_sync(0xffffffffu, m2, offset);
    const float d = mean2 - mean, total = count + other;
    if (total == 0) continue;
    m2 += d * d * (count * other / total);
    mean = (count * mean + other * mean2) / total;
    count = total;
  }
  const float scale = 1.0f / sqrtf(m2 / size + 1e-5f);
  for (int i = lane; i < size; i += 32) {
    const int c = group % G * channels + i / HW;
    const float y = (x[start + i] - mean) * scale * w[c] + b[c];
    o[start + i] = y / (1.0f + expf(-y));
  }
}
