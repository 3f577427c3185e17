// One block, a thread a place owner: the first of equal places looks for the greatest.
extern "C" __global__ void scatter_max(const int* v, const int* at, int* o, int N, int M) {
  for (int i = threadIdx.x; i < N; i += 256) {
    int best = v[i];
    bool first = true;
    for (int k = 0; k < N; ++k)
      if (at[k] == at[i]) {
        if (k < i) first = false;
        best = max(best, v[k]);
      }
    if (first && best > o[at[i]]) o[at[i]] = best;
  }
}
