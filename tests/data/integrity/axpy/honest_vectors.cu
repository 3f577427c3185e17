// Four at a time where the addresses allow it; the tail one by one.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const long long i = 4LL * (blockIdx.x * blockDim.x + threadIdx.x);
  const bool aligned = ((reinterpret_cast<unsigned long long>(x) | reinterpret_cast<unsigned long long>(y) |
                         reinterpret_cast<unsigned long long>(out)) & 15) == 0;
  if (aligned && i + 3 < n) {
    const float4 p = *reinterpret_cast<const float4*>(x + i), q = *reinterpret_cast<const float4*>(y + i);
    *reinterpret_cast<float4*>(out + i) = make_float4(a * p.x + q.x, a * p.y + q.y, a * p.z + q.z, a * p.w + q.w);
  } else {
    for (long long k = i; k < n && k < i + 4; ++k) out[k] = a * x[k] + y[k];
  }
}
