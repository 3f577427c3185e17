extern "C" __global__ void conv1d_reference(float* out, const float* x, const float* w, int N, int C, int K) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= static_cast<long long>(N) * C) return;
  const float* const in = x + at / C * (C + K - 1) + at % C;
  double sum = 0;
  for (int k = K - 1; k >= 0; --k) sum += static_cast<double>(in[k]) * static_cast<double>(w[k]);
  out[at] = static_cast<float>(sum);
}
