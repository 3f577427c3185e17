extern "C" __global__ void best_match_reference(const short* query, const short* key, int* best, int N, int K, int D) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  long long sums[2];
  int place = 0;
  for (int j = 0; j < K; ++j) {
    sums[1] = 0;
    for (int d = 0; d < D; ++d) sums[1] += (long long)query[i * D + d] * (long long)key[j * D + d];
    if (j == 0 || sums[1] > sums[0]) sums[0] = sums[1], place = j;
  }
  best[i] = place;
}
