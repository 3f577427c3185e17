// The filter in shared memory.
extern "C" __global__ void complex_rows(const float* x, const float* w, float* y, int R) {
  __shared__ float2 sw[128];
  sw[threadIdx.x] = ((const float2*)w)[threadIdx.x];
  __syncthreads();
  for (int r = blockIdx.x; r < R; r += gridDim.x) {
    const float2 u = ((const float2*)x)[r * 128 + threadIdx.x], f = sw[threadIdx.x];
    ((float2*)y)[r * 128 + threadIdx.x] = make_float2(u.x * f.x - u.y * f.y, u.x * f.y + u.y * f.x);
  }
}
