// 512 rows of the second cloud at a time in shared memory, padded to 4 floats; four points a thread.
extern "C" __global__ void __launch_bounds__(128)
    nearest_point(float* __restrict__ dist, const float* __restrict__ xyz1, const float* __restrict__ xyz2, int N, int M) {
  __shared__ float4 tile[512];
  float x[4], y[4], z[4], best[4];
  const int first = blockIdx.x * 512 + threadIdx.x;
#pragma unroll
  for (int u = 0; u < 4; u++) {
    const int i = min(first + u * 128, N - 1);
    x[u] = xyz1[i * 3], y[u] = xyz1[i * 3 + 1], z[u] = xyz1[i * 3 + 2];
    best[u] = 1e30f;
  }
  for (int base = 0; base < M; base += 512) {
    const int count = min(512, M - base);
    __syncthreads();
    for (int j = threadIdx.x; j < 3 * count; j += 128) ((float*)tile)[j / 3 * 4 + j % 3] = xyz2[base * 3 + j];
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < count; k++) {
      const float4 p = tile[k];
#pragma unroll
      for (int u = 0; u < 4; u++) {
        const float dx = p.x - x[u], dy = p.y - y[u], dz = p.z - z[u];
        best[u] = fminf(best[u], dx * dx + dy * dy + dz * dz);
      }
    }
  }
#pragma unroll
  for (int u = 0; u < 4; u++) {
    const int i = first + u * 128;
    if (i < N) dist[i] = best[u];
  }
}
