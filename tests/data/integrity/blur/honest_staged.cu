// Through shared memory.
extern "C" __global__ void blur(const float* x, float* out, int n) {
  __shared__ float line[262];
  const int begin = blockIdx.x * 256 - 3;
  for (int e = threadIdx.x; e < 262; e += 256) line[e] = begin + e >= 0 && begin + e < n ? x[begin + e] : 0.0f;
  __syncthreads();
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float* const at = line + threadIdx.x;
  if (i < n) out[i] = (at[0] + 6 * at[1] + 15 * at[2] + 20 * at[3] + 15 * at[4] + 6 * at[5] + at[6]) * 0.015625f;
}
