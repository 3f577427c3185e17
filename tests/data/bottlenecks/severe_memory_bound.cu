// c = s * (dot product of four elements of a and b). Four floats at a time; the grid strides over the vectors. n is a multiple of 4.
extern "C" __global__ void severe_memory_bound(float* __restrict__ c, const float* __restrict__ a, const float* __restrict__ b, float s, int n) {
  const int stride = gridDim.x * blockDim.x;
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += stride) {
    const float4 u = reinterpret_cast<const float4*>(a)[i];
    const float4 v = reinterpret_cast<const float4*>(b)[i];
    c[i] = s * (u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w);
  }
}
