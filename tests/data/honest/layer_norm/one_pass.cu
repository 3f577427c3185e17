// A warp a row, one pass by four elements: FORM 1 a running mean (Welford 1962), 2 sums of the differences from the row's first value.
extern "C" __global__ void layer_norm(float* out, const float* x, const float* w, const float* b, int N, int C) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= N) return;
  const float* const in = x + (size_t)row * C;
  float count = 0, mean = 0, m2 = 0;
#if FORM == 1
  for (int j = lane; j < C; j += 32) {
    count += 1;
    const float d = in[j] - mean;
    mean += d / count;
    m2 = fmaf(d, in[j] - mean, m2);
  }
  for (int offset = 1; offset < 32; offset *= 2) {
    const float n = __shfl_xor_sync(0xffffffffu, count, offset), d = __shfl_xor_sync(0xffffffffu, mean, offset) - mean;
    m2 += __shfl_xor_sync(0xffffffffu, m2, offset);
    if (count + n > 0) {
      m2 += d * d * (count * n / (count + n));
      mean = (count * mean + n * (mean + d)) / (count + n);
    }
    count += n;
  }
#else
  const float first = in[0];
  for (int j = lane; 4 * j < C; j += 32)
    for (int k = 4 * j; k < min(C, 4 * j + 4); ++k) {
      const float d = in[k] - first;
      mean += d, m2 += d * d;
    }
  for (int offset = 16; offset > 0; offset /= 2) {
    mean += __shfl_xor_sync(0xffffffffu, mean, offset);
    m2 += __shfl_xor_sync(0xffffffffu, m2, offset);
  }
  count = (float)C;
  mean /= C;
  m2 = fmaxf(m2 - mean * mean * count, 0.0f);
  mean += first;
#endif
  const float scale = 1.0f / sqrtf(m2 / count + 1e-5f);
  for (int j = lane; j < C; j += 32) out[(size_t)row * C + j] = (in[j] - mean) * (scale * w[j]) + b[j];
}
