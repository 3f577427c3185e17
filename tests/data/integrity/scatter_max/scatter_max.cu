// o[at[i]] = max(o[at[i]], v[i]); a place may come several times
extern "C" __global__ void scatter_max(const int* v, const int* at, int* o, int N, int M) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) atomicMax(o + at[i], v[i]);
}
