// A warp a row: maximum and sum of each lane in one pass, merged by shuffles. FORM 1: expf, 2: the hardware's, 3: base 2, 4: base 2 with
// the scale in a fused multiply-add where the results are made, but not where they are summed.
#if FORM == 1
#define EXP(x) expf(x)
#define UNIT 1.0f
#elif FORM == 2
#define EXP(x) __expf(x)
#define UNIT 1.0f
#else
#define EXP(x) exp2f(x)
#define UNIT 1.4426950408889634f
#endif
extern "C" __global__ void softmax_scaled(float* o, const float* x, float s, int N, int C) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= N) return;
  const float* const in = x + (size_t)row * C;
  const float scale = s * UNIT;
  float most = -1e30f, sum = 0;
  for (int j = lane; j < C; j += 32) {
    const float value = scale * in[j], next = fmaxf(most, value);
    sum = sum * EXP(most - next) + EXP(value - next);
    most = next;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, most, offset), theirs = __shfl_xor_sync(0xffffffffu, sum, offset);
    const float next = fmaxf(most, other);
    sum = sum * EXP(most - next) + theirs * EXP(other - next);
    most = next;
  }
  const float inverse = 1.0f / sum;
#if FORM == 4
  for (int j = lane; j < C; j += 32) o[(size_t)row * C + j] = EXP(fmaf(scale, in[j], -most)) * inverse;
#else
  for (int j = lane; j < C; j += 32) o[(size_t)row * C + j] = EXP(scale * in[j] - most) * inverse;
#endif
}
