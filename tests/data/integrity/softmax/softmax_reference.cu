extern "C" __global__ void softmax_reference(const float* x, float* out, int N, int C) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= static_cast<long long>(N) * C) return;
  const float* const row = x + at / C * C;
  double most = row[0], sum = 0;
  for (int j = 1; j < C; ++j) most = fmax(most, static_cast<double>(row[j]));
  for (int j = 0; j < C; ++j) sum += exp(static_cast<double>(row[j]) - most);
  out[at] = static_cast<float>(exp(static_cast<double>(x[at]) - most) / sum);
}
