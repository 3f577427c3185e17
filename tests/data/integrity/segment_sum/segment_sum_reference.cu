extern "C" __global__ void segment_sum_reference(const float* x, const int* begin, float* sum, int S, int n, int D) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= S * D) return;
  double total = 0;
  for (int i = begin[at / D]; i < begin[at / D + 1]; ++i) total += x[static_cast<long long>(i) * D + at % D];
  sum[at] = static_cast<float>(total);
}
