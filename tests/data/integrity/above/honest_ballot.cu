// A warp a word.
extern "C" __global__ void above(const float* x, unsigned* bits, float threshold, int n) {
  const int lane = threadIdx.x & 31, words = (n + 31) / 32;
  for (int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32; w < words; w += gridDim.x * blockDim.x / 32) {
    const int i = 32 * w + lane;
    const unsigned word = __ballot_sync(0xffffffffu, i < n && x[i] >= threshold);
    if (lane == 0) bits[w] = word;
  }
}
