// One block, four sums a thread, a tree: the same order in every launch.
extern "C" __global__ void dot(float* out, const float* x, const float* y, int n) {
  __shared__ float part[256];
  float a = 0, b = 0, c = 0, d = 0;
  int i = threadIdx.x;
  for (; i + 768 < n; i += 1024) a += x[i] * y[i], b += x[i + 256] * y[i + 256], c += x[i + 512] * y[i + 512], d += x[i + 768] * y[i + 768];
  for (; i < n; i += 256) a += x[i] * y[i];
  part[threadIdx.x] = (a + b) + (c + d);
  for (int stride = 128; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) out[0] += part[0];
}
