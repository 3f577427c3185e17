// Inclusive sums of every segment of 256 elements.
constexpr int kSegment = 256;
__global__ void segment_scan(const int* in, int* out, int n) {
  __shared__ int s[kSegment];
  int i = blockIdx.x * kSegment + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = 1; d < kSegment; d *= 2) {
    int v = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
    __syncthreads();
    s[threadIdx.x] += v;
    __syncthreads();
  }
  if (i < n) out[i] = s[threadIdx.x];
}
