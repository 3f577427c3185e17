extern "C" __global__ void range_of(const int* begin, const int* place, int* range, int ranges, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at = 0;
  while (at + 1 < ranges && begin[at + 1] <= place[i]) ++at;
  range[i] = at;
}
