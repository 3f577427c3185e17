extern "C" __global__ void momentum_reference(
    float* v, const float* g, float decay, float share, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double sum = static_cast<double>(decay) * v[i] + static_cast<double>(share) * g[i];
  v[i] = static_cast<float>(sum);
}
