// Four values a thread; slots are distinct, so that a plain addition is enough.
extern "C" __global__ void page_write(float* cache, int* uses, const float* x, const int* slot, float scale, int T, int S, int D) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, quarter = D / 4;
  if (i >= T * quarter) return;
  const int t = i / quarter, d = i % quarter, to = slot[t];
  float4 v = reinterpret_cast<const float4*>(x)[i];
  v.x *= scale, v.y *= scale, v.z *= scale, v.w *= scale;
  reinterpret_cast<float4*>(cache)[(size_t)to * quarter + d] = v;
  if (d == 0) uses[to] += 1;
}
