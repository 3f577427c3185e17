extern "C" __global__ void range_of_reference(const int* begin, const int* place, int* range, int ranges, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at = ranges - 1;
  while (at > 0 && begin[at] > place[i]) --at;
  range[i] = at;
}
