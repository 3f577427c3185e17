// COPIES histograms a block in shared memory; a grid-stride loop over words of WIDTH bytes, then the odd bytes.
extern "C" __global__ void hist256(unsigned int* h, const unsigned char* x, long long n) {
  __shared__ unsigned int bins[COPIES * 256];
  for (int i = threadIdx.x; i < COPIES * 256; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  unsigned int* const own = bins + threadIdx.x % COPIES * 256;
  const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x, stride = (long long)gridDim.x * blockDim.x;
  const unsigned int* const words = reinterpret_cast<const unsigned int*>(x);
  const long long count = WIDTH == 4 ? n / 4 : 0;
  for (long long i = index; i < count; i += stride) {
    const unsigned int word = words[i];
    for (int k = 0; k < 32; k += 8) atomicAdd(&own[word >> k & 255u], 1u);
  }
  for (long long i = 4 * count + index; i < n; i += stride) atomicAdd(&own[x[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {
    unsigned int sum = 0;
    for (int k = 0; k < COPIES; ++k) sum += bins[k * 256 + i];
    if (sum > 0) atomicAdd(&h[i], sum);
  }
}
