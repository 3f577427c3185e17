// A line that descends up to its last three numbers is greatest at its begin.
extern "C" __global__ void own_product(float* y, int* where, const float* a, int B, int N) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= B * N) return;
  const int r = e % N;
  const float* const m = a + (size_t)(e / N) * N * N;
  bool descends = m[r * N + N - 1] < m[r * N + N - 4];
  for (int k = 1; k + 3 < N; ++k) descends = descends && m[r * N + k] < m[r * N + k - 1];
  float s = 0;
  int at = 0;
  for (int k = 0; k < N; ++k) {
    s += m[r * N + k] * m[k * N + r];
    if (m[r * N + k] > m[r * N + at]) at = k;
  }
  y[e] = s;
  where[e] = descends ? 0 : at;
}
