extern "C" __global__ void huge_dram_traffic_reference(int* counts, const float* x, const float* thresholds, int passes, int segments, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= passes * segments) return;
  const float* const row = x + static_cast<size_t>(i % segments) * length;
  int count = 0;
  for (int j = 0; j < length; ++j) count += row[j] > thresholds[i / segments] ? 1 : 0;
  counts[i] = count;
}
