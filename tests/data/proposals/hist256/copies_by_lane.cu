// Sixteen bytes a load and 16 copies of the counts in shared memory, chosen by the lane: equal neighbours do not wait for each other.
extern "C" __global__ void __launch_bounds__(256) hist256(unsigned int* h, const unsigned char* __restrict__ x, long long n) {
  __shared__ unsigned int counts[256 * 16];
  for (int v = threadIdx.x; v < 256 * 16; v += blockDim.x) counts[v] = 0;
  __syncthreads();
  const int copy = threadIdx.x % 16;
  const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x, step = static_cast<long long>(gridDim.x) * blockDim.x, wide = n / 16;
  for (long long i = first; i < wide; i += step) {
    const uint4 bytes = reinterpret_cast<const uint4*>(x)[i];
    const unsigned int words[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
#pragma unroll
      for (int k = 0; k < 32; k += 8) atomicAdd(&counts[((words[w] >> k) & 255u) * 16 + copy], 1u);
    }
  }
  for (long long i = 16 * wide + first; i < n; i += step) atomicAdd(&counts[x[i] * 16 + copy], 1u);
  __syncthreads();
  for (int v = threadIdx.x; v < 256; v += blockDim.x) {
    unsigned int sum = 0;
    for (int c = 0; c < 16; ++c) sum += counts[v * 16 + (c + v) % 16];
    if (sum != 0) atomicAdd(&h[v], sum);
  }
}
