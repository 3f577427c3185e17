// A warp a row, one pass. FORM 1: expf, 2: the hardware's exponential and logarithm, 3: base 2.
#if FORM == 1
#define EXP(x) expf(x)
#define LOG(x) logf(x)
#elif FORM == 2
#define EXP(x) __expf(x)
#define LOG(x) __logf(x)
#else
#define EXP(x) exp2f((x) * 1.4426950408889634f)
#define LOG(x) (log2f(x) * 0.6931471805599453f)
#endif
extern "C" __global__ void log_sum_exp(const float* x, float* out, int N, int C) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= N) return;
  const float* const in = x + (size_t)row * C;
  float most = -1e38f, sum = 0;
  for (int j = lane; j < C; j += 32) {
    const float value = in[j];
    if (value > most) {
      sum = sum * EXP(most - value) + 1.0f;
      most = value;
    } else {
      sum += EXP(value - most);
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, most, offset), theirs = __shfl_xor_sync(0xffffffffu, sum, offset);
    const float all = fmaxf(most, other);
    sum = sum * EXP(most - all) + theirs * EXP(other - all);
    most = all;
  }
  if (lane == 0) out[row] = most + LOG(sum);
}
