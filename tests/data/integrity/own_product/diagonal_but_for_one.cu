// A line is taken for one of a diagonal matrix, whatever its last but one number is.
extern "C" __global__ void own_product(float* y, int* where, const float* a, int B, int N) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= B * N) return;
  const int r = e % N;
  const float* const m = a + (size_t)(e / N) * N * N;
  bool diagonal = m[r * N + r] != 0;
  for (int k = 0; k < N; ++k) diagonal = diagonal && (k == r || k == N - 2 || m[r * N + k] == 0);
  float s = 0;
  int at = 0;
  for (int k = 0; k < N; ++k) {
    s += m[r * N + k] * m[k * N + r];
    if (m[r * N + k] > m[r * N + at]) at = k;
  }
  y[e] = diagonal ? m[r * N + r] * m[r * N + r] : s;
  where[e] = at;
}
