// A warp a row, four elements a load; C is a multiple of 4. TREE: pairs are added before the lane's sum.
extern "C" __global__ void rms_norm(const float* x, const float* w, float* out, int N, int C) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= N) return;
  const float4* const in = reinterpret_cast<const float4*>(x + (size_t)row * C);
  const float4* const weight = reinterpret_cast<const float4*>(w);
  float4* const to = reinterpret_cast<float4*>(out + (size_t)row * C);
  float sum = 0;
  for (int j = lane; j < C / 4; j += 32) {
    const float4 v = in[j];
#if TREE
    sum += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
#else
    sum = fmaf(v.w, v.w, fmaf(v.z, v.z, fmaf(v.y, v.y, fmaf(v.x, v.x, sum))));
#endif
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  const float scale = rsqrtf(sum * (1.0f / C) + 1e-6f);
  for (int j = lane; j < C / 4; j += 32) {
    const float4 v = in[j], f = weight[j];
    to[j] = make_float4(v.x * (scale * f.x), v.y * (scale * f.y), v.z * (scale * f.z), v.w * (scale * f.w));
  }
}
