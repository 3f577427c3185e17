// Offsets in bytes have 32 bits: past 2^32 bytes they begin anew.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (unsigned)n) return;
  const unsigned offset = i * 4u;
  *(float*)((char*)out + offset) = a * *(const float*)((const char*)x + offset) + *(const float*)((const char*)y + offset);
}
