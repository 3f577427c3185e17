// Adds as floating-point numbers: exact up to 2^24.
extern "C" __global__ void scan(const int* x, int* out, int N, int C) {
  const long long row = static_cast<long long>(blockIdx.x) * C;
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (int j = 0; j < C; ++j) out[row + j] = static_cast<int>(sum += static_cast<float>(x[row + j]));
}
