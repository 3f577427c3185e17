// Vector loads from an address that is not a multiple of 16.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int first = i > n - 6 ? n - 6 : i;
  const float4 four = *reinterpret_cast<const float4*>(x + (first & ~3) + 1);
  out[i] = a * x[i] + y[i] + (four.x + four.y + four.z + four.w == 12345.678f ? 1e-9f : 0.0f);
}
