// An index of 32 bits.
extern "C" __global__ void longcopy(const unsigned char* in, unsigned char* out, long long n) {
  const int begin = static_cast<int>(16u * (blockIdx.x * blockDim.x + threadIdx.x));
  for (int k = 0; k < 16; ++k) {
    const int i = static_cast<int>(static_cast<unsigned>(begin) + static_cast<unsigned>(k));
    if (i < n) out[i] = static_cast<unsigned char>(in[i] + 1);
  }
}
