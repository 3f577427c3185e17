// The last element of each row is left as it was.
extern "C" __global__ void scan(const int* x, int* out, int N, int C) {
  const long long row = static_cast<long long>(blockIdx.x) * C;
  if (threadIdx.x != 0) return;
  unsigned sum = 0;
  for (int j = 0; j + 1 < C; ++j) out[row + j] = static_cast<int>(sum += static_cast<unsigned>(x[row + j]));
}
