// 256 bodies at a time in shared memory, two bodies a thread.
extern "C" __global__ void __launch_bounds__(128)
    nbody_forces(float* __restrict__ acc, const float4* __restrict__ pos, float softening, int n) {
  __shared__ float4 tile[256];
  const int first = blockIdx.x * 256 + threadIdx.x;
  float4 me[2];
  float ax[2] = {0.f, 0.f}, ay[2] = {0.f, 0.f}, az[2] = {0.f, 0.f};
#pragma unroll
  for (int u = 0; u < 2; u++) me[u] = pos[min(first + u * 128, n - 1)];
  for (int base = 0; base < n; base += 256) {
    const int count = min(256, n - base);
    __syncthreads();
    for (int j = threadIdx.x; j < count; j += 128) tile[j] = pos[base + j];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < count; j++) {
      const float4 p = tile[j];
#pragma unroll
      for (int u = 0; u < 2; u++) {
        const float dx = p.x - me[u].x, dy = p.y - me[u].y, dz = p.z - me[u].z;
        const float inv = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
        const float f = p.w * inv * inv * inv;
        ax[u] += dx * f, ay[u] += dy * f, az[u] += dz * f;
      }
    }
  }
#pragma unroll
  for (int u = 0; u < 2; u++) {
    const int i = first + u * 128;
    if (i < n) acc[3 * i] = ax[u], acc[3 * i + 1] = ay[u], acc[3 * i + 2] = az[u];
  }
}
