// The row stays in registers (16 floats a thread, C at most 4096 and a multiple of 4), shuffles in place of the tree.
extern "C" __global__ void __launch_bounds__(256)
    rms_norm_helper(float* __restrict__ out, const float* __restrict__ x, const float* __restrict__ gain, int C, float eps) {
  __shared__ float sums[8];
  const float4* row = (const float4*)(x + (long long)blockIdx.x * C);
  float4* result = (float4*)(out + (long long)blockIdx.x * C);
  float4 v[4];
  float sum = 0.f;
#pragma unroll
  for (int u = 0; u < 4; u++) {
    const int i = threadIdx.x + u * 256;
    v[u] = 4 * i < C ? row[i] : make_float4(0.f, 0.f, 0.f, 0.f);
    sum += v[u].x * v[u].x + v[u].y * v[u].y + v[u].z * v[u].z + v[u].w * v[u].w;
  }
#pragma unroll
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0.f;
#pragma unroll
  for (int w = 0; w < 8; w++) total += sums[w];
  const float scale = rsqrtf(total / C + eps);
#pragma unroll
  for (int u = 0; u < 4; u++) {
    const int i = threadIdx.x + u * 256;
    if (4 * i >= C) continue;
    const float4 g = ((const float4*)gain)[i];
    result[i] = make_float4(v[u].x * scale * g.x, v[u].y * scale * g.y, v[u].z * scale * g.z, v[u].w * scale * g.w);
  }
}
