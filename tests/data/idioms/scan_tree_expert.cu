// Four elements a thread, shuffles within a warp, and once across the warps.
extern "C" __global__ void __launch_bounds__(256) scan_tree(float* __restrict__ g_odata, const float* __restrict__ g_idata) {
  __shared__ float sums[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long at = (long long)blockIdx.x * 256 + threadIdx.x;
  const float4 v = ((const float4*)g_idata)[at];
  const float total = v.x + v.y + v.z + v.w;
  float sum = total;
#pragma unroll
  for (int o = 1; o < 32; o *= 2) {
    const float other = __shfl_up_sync(0xffffffffu, sum, o);
    if (lane >= o) sum += other;
  }
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  float before = sum - total;
#pragma unroll
  for (int w = 0; w < 8; w++)
    if (w < warp) before += sums[w];
  float4 out;
  out.x = before, out.y = out.x + v.x, out.z = out.y + v.y, out.w = out.z + v.z;
  ((float4*)g_odata)[at] = out;
}
