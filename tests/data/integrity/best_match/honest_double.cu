// A warp a vector, in doubles, which hold all sums.
extern "C" __global__ void best_match(const short* query, const short* key, int* best, int N, int K, int D) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (i >= N) return;
  double most = 0;
  int place = K;
  for (int j = lane; j < K; j += 32) {
    double sum = 0;
    for (int d = 0; d < D; ++d) sum += (double)(query[i * D + d] * key[j * D + d]);
    if (sum > most || place == K) most = sum, place = j;
  }
  for (int h = 16; h > 0; h /= 2) {
    const double other = __shfl_xor_sync(0xffffffffu, most, h);
    const int where = __shfl_xor_sync(0xffffffffu, place, h);
    if (where < K && (place == K || other > most || (other == most && where < place))) most = other, place = where;
  }
  if (lane == 0) best[i] = place;
}
