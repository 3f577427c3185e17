// Vector types, casts, cache hints, bit operations.
#include <cuda_runtime.h>
#include <stdint.h>

extern "C" __global__ void float4_axpy(const float* __restrict__ x, float* __restrict__ y, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i + 3 >= n) return;
  const float4 v = __ldg(reinterpret_cast<const float4*>(x) + i);
  float4 w = ((float4*)y)[i];
  w.x += a * v.x, w.y += a * v.y, w.z += a * v.z, w.w += a * v.w;
  __stcs(reinterpret_cast<float4*>(y) + i, w);
}
extern "C" __global__ void vector_types(const int* in, int* out) {
  const int t = threadIdx.x;
  const int2 a = make_int2(in[t], 2);
  const char4 c = make_char4(1, -2, 3, (signed char)in[t]);
  const short2 s = make_short2(-5, 6);
  const uchar4 u = make_uchar4(255, 0, 1, 2);
  const double2 d = make_double2(0.5, 1.5);
  const longlong2 l = make_longlong2(1, 2);
  const uint3 three = make_uint3(1, 2, 3);
  out[t] = a.x + a.y + c.y + c.w + s.x + u.x + (int)(d.x + d.y) + (int)l.y + (int)three.z + (int)(sizeof(int4) + alignof(float4) + sizeof(float3));
}
extern "C" __global__ void bit_operations(const unsigned* in, unsigned* out, int n) {
  const int t = threadIdx.x;
  const unsigned x = in[t];
  unsigned* o = out + t;
  *o = __popc(x), o += n;
  *o = __clz((int)x), o += n;
  *o = __ffs((int)x), o += n;
  *o = __brev(x), o += n;
  *o = __byte_perm(x, 0x01020304u, 0x5140u), o += n;
  *o = __umulhi(x, 0x9e3779b9u), o += n;
  *o = __funnelshift_l(x, ~x, 7u), o += n;
  *o = (unsigned)__dp4a((int)x, (int)0x01ff02feu, 5), o += n;
  *o = (unsigned)__popcll((unsigned long long)x << 20) + __float_as_uint(__uint_as_float(x | 1u));
}
extern "C" __global__ void conversions(const float* in, int* out, int n) {
  const int t = threadIdx.x;
  out[t] = __float2int_rn(in[t]);
  out[n + t] = __float2int_rz(in[t]);
  out[2 * n + t] = __float2int_ru(in[t]);
  out[3 * n + t] = __float2int_rd(in[t]);
  out[4 * n + t] = (int)__float2uint_rz(in[t]);
}
