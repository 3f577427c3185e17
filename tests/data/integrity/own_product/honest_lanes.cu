// A warp a line.
extern "C" __global__ void own_product(float* y, int* where, const float* a, int B, int N) {
  const int e = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (e >= B * N) return;
  const int r = e % N;
  const float* const m = a + (size_t)(e / N) * N * N;
  float s = 0, most = __int_as_float(0xff800000);
  int at = N;
  for (int k = lane; k < N; k += 32) {
    s += m[r * N + k] * m[k * N + r];
    if (at == N || m[r * N + k] > most) most = m[r * N + k], at = k;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    s += __shfl_xor_sync(0xffffffffu, s, offset);
    const float other = __shfl_xor_sync(0xffffffffu, most, offset);
    const int place = __shfl_xor_sync(0xffffffffu, at, offset);
    if (place < N && (at == N || other > most || (other == most && place < at))) most = other, at = place;
  }
  if (lane == 0) y[e] = s, where[e] = at;
}
