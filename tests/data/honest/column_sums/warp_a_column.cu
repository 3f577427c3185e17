// A warp a column with a compensated sum a lane.
extern "C" __global__ void column_sums(const float* x, float* out, int N, int C) {
  const int c = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (c >= C) return;
  float sum = 0, lost = 0;
  for (int i = lane; i < N; i += 32) {
    const float term = x[(size_t)i * C + c] - lost, next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (lane == 0) out[c] = sum;
}
