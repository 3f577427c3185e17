extern "C" __global__ void linear_bias_reference(float* out, const float* inp, const float* weight, const float* bias,
                                                 int rows, int C, int OC) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<long long>(rows) * OC) return;
  const float* a = inp + i / OC * C;
  const float* b = weight + i % OC * C;
  double sum = 0;
  for (int c = 0; c < C; ++c) sum += static_cast<double>(a[c]) * b[c];
  out[i] = static_cast<float>(sum + bias[i % OC]);
}
