// Exclusive prefix sums of rows of 1024 elements, a block a row: up and down a tree in shared memory.
extern "C" __global__ void scan_tree(float* g_odata, const float* g_idata) {
  __shared__ float temp[1024];
  int thid = threadIdx.x;
  int base = blockIdx.x * 1024;
  int offset = 1;
  temp[2 * thid] = g_idata[base + 2 * thid];
  temp[2 * thid + 1] = g_idata[base + 2 * thid + 1];
  for (int d = 1024 >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (thid == 0) {
    temp[1024 - 1] = 0;
  }
  for (int d = 1; d < 1024; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1;
      int bi = offset * (2 * thid + 2) - 1;
      float t = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t;
    }
  }
  __syncthreads();
  g_odata[base + 2 * thid] = temp[2 * thid];
  g_odata[base + 2 * thid + 1] = temp[2 * thid + 1];
}
