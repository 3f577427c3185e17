extern "C" __global__ void best_match(const short* query, const short* key, int* best, int N, int K, int D) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  long long most = 0;
  int place = -1;
  for (int j = 0; j < K; ++j) {
    long long sum = 0;
    for (int d = 0; d < D; ++d) sum += query[i * D + d] * key[j * D + d];
    if (place < 0 || sum > most) most = sum, place = j;
  }
  best[i] = place;
}
