// The table with what depends on it alone in shared memory (four floats a centre), four points a thread.
extern "C" __global__ void __launch_bounds__(256)
    rbf_sum(float* __restrict__ f, const float* __restrict__ px, const float* __restrict__ py, const float* __restrict__ cx,
            const float* __restrict__ cy, const float* __restrict__ width, const float* __restrict__ weight, int points,
            int centres) {
  __shared__ float4 table[256];
  float x[4], y[4], sum[4];
  const int first = blockIdx.x * 1024 + threadIdx.x;
#pragma unroll
  for (int u = 0; u < 4; u++) {
    const int i = first + u * 256;
    x[u] = i < points ? px[i] : 0.f;
    y[u] = i < points ? py[i] : 0.f;
    sum[u] = 0.f;
  }
  for (int base = 0; base < centres; base += 256) {
    const int j = base + threadIdx.x;
    __syncthreads();
    if (j < centres) {
      const float w = width[j];
      // exp(d * s) = exp2(d * s * log2(e))
      table[threadIdx.x] = make_float4(cx[j], cy[j], -0.72134752f / (w * w), weight[j] * sqrtf(w));
    }
    __syncthreads();
    const int count = min(256, centres - base);
#pragma unroll 4
    for (int k = 0; k < count; k++) {
      const float4 c = table[k];
#pragma unroll
      for (int u = 0; u < 4; u++) {
        const float dx = x[u] - c.x, dy = y[u] - c.y;
        sum[u] += c.w * exp2f((dx * dx + dy * dy) * c.z);
      }
    }
  }
#pragma unroll
  for (int u = 0; u < 4; u++) {
    const int i = first + u * 256;
    if (i < points) f[i] = sum[u];
  }
}
