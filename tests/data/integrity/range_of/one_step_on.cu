// Finds the first range that ends at the place or after it and goes on by one: several empty ones may end there.
extern "C" __global__ void range_of(const int* begin, const int* place, int* range, int ranges, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int low = 0, high = ranges - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    begin[middle + 1] < place[i] ? low = middle + 1 : high = middle;
  }
  if (low + 1 < ranges && begin[low + 1] <= place[i]) ++low;
  range[i] = low;
}
