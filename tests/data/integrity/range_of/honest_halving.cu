// Halves the ranges.
extern "C" __global__ void range_of(const int* begin, const int* place, int* range, int ranges, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int low = 0, high = ranges - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    begin[middle] <= place[i] ? low = middle : high = middle - 1;
  }
  range[i] = low;
}
