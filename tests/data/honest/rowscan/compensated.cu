// A thread a row with a compensated sum (Kahan 1965).
extern "C" __global__ void rowscan(float* y, const float* x, int N, int C) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float sum = 0, lost = 0;
  for (int j = 0; j < C; ++j) {
    const float term = x[(size_t)row * C + j] - lost, next = sum + term;
    lost = (next - sum) - term;
    y[(size_t)row * C + j] = sum = next;
  }
}
