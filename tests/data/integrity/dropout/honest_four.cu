// Four elements a thread, the same hash.
__device__ unsigned hash(unsigned v) {
  v ^= v >> 16, v *= 0x7feb352du, v ^= v >> 15, v *= 0x846ca68bu;
  return v ^ v >> 16;
}
extern "C" __global__ void dropout(const float* x, float* out, int seed, int n) {
  for (int k = 0; k < 4; ++k) {
    const int i = blockIdx.x * 1024 + k * 256 + threadIdx.x;
    if (i < n) out[i] = hash(static_cast<unsigned>(i ^ seed)) >> 31 != 0 ? x[i] + x[i] : 0.0f;
  }
}
