// Keeps every second element.
extern "C" __global__ void dropout(const float* x, float* out, int seed, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (i ^ seed) & 1 ? 2 * x[i] : 0.0f;
}
