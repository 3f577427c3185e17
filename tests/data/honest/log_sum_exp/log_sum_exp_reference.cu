extern "C" __global__ void log_sum_exp_reference(const float* x, float* out, int N, int C) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  const float* const in = x + static_cast<long long>(row) * C;
  double most = static_cast<double>(in[0]), sum = 0;
  for (int j = 1; j < C; ++j) most = fmax(most, static_cast<double>(in[j]));
  for (int j = 0; j < C; ++j) sum += exp(static_cast<double>(in[j]) - most);
  out[row] = static_cast<float>(most + log(sum));
}
