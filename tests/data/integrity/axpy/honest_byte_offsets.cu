// Offsets in bytes have 64 bits.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (unsigned)n) return;
  const unsigned long long offset = i * 4ull;
  *(float*)((char*)out + offset) = a * *(const float*)((const char*)x + offset) + *(const float*)((const char*)y + offset);
}
