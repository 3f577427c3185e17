// counts[p][s]: elements of segment s above threshold p. A warp a segment, a pass a threshold. length is a multiple of 128.
extern "C" __global__ void huge_dram_traffic(int* __restrict__ counts, const float* __restrict__ x,
    const float* __restrict__ thresholds, int passes, int segments, int length) {
  const int segment = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (segment >= segments) return;
  const float4* const row = reinterpret_cast<const float4*>(x + static_cast<size_t>(segment) * length);
  for (int p = 0; p < passes; ++p) {
    const float threshold = thresholds[p];
    int count = 0;
#pragma unroll 4
    for (int j = lane; j < length / 4; j += 32) {
      const float4 v = row[j];
      count += (v.x > threshold) + (v.y > threshold) + (v.z > threshold) + (v.w > threshold);
    }
    count = __reduce_add_sync(0xffffffffu, count);
    if (lane == 0) counts[p * segments + segment] = count;
  }
}
