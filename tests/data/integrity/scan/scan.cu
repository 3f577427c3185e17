// Inclusive prefix sums of every row of integers, one thread a row.
extern "C" __global__ void scan(const int* x, int* out, int N, int C) {
  __shared__ unsigned sums[256];
  const long long row = static_cast<long long>(blockIdx.x) * C;
  const int share = (C + 255) / 256, begin = threadIdx.x * share, end = min(begin + share, C);
  unsigned sum = 0;
  for (int j = begin; j < end; ++j) sum += static_cast<unsigned>(x[row + j]);
  sums[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < static_cast<int>(threadIdx.x); ++k) sum += sums[k];
  for (int j = begin; j < end; ++j) out[row + j] = static_cast<int>(sum += static_cast<unsigned>(x[row + j]));
}
