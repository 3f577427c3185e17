extern "C" __global__ void axpy_reference(const float* x, const float* y, float* out, float a, int n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<float>(static_cast<double>(a) * static_cast<double>(x[i]) + static_cast<double>(y[i]));
}
