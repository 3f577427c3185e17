// Two pairs a thread by accesses of 16 bytes. half is even.
extern "C" __global__ void rotate_pairs(float* __restrict__ out, const float* __restrict__ x,
                                        const float* __restrict__ cosines, const float* __restrict__ sines, int half) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 v = ((const float4*)x)[i];
  const int column = (2 * i) % half;
  const float2 c = *(const float2*)(cosines + column), s = *(const float2*)(sines + column);
  ((float4*)out)[i] = make_float4(v.x * c.x - v.y * s.x, v.x * s.x + v.y * c.x, v.z * c.y - v.w * s.y, v.z * s.y + v.w * c.y);
}
