// Products with the mask: an infinity that is not selected makes NaN of the sum.
extern "C" __global__ void masked_rows(const float* x, const bool* selected, float* sum, int R, int C) {
  const int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= R) return;
  float s = 0;
  for (int j = lane; j < C; j += 32) {
    const long long i = static_cast<long long>(r) * C + j;
    s = fmaf(x[i], static_cast<float>(selected[i]), s);
  }
  for (int offset = 16; offset > 0; offset /= 2) s += __shfl_xor_sync(0xffffffffu, s, offset);
  if (lane == 0) sum[r] = s;
}
