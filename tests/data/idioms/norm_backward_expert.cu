// A warp a row at a time, several rows a warp; a block keeps its sums of columns in shared memory (2 * C floats) and
// adds them to memory once. C is a multiple of 128.
extern "C" __global__ void __launch_bounds__(512)
    norm_backward(float* __restrict__ dinp, float* dweight, float* dbias, const float* __restrict__ dout,
                  const float* __restrict__ inp, const float* __restrict__ weight, const float* __restrict__ mean,
                  const float* __restrict__ rstd, int N, int C) {
  extern __shared__ float sums[];
  float* sum_w = sums;
  float* sum_b = sums + C;
  for (int i = threadIdx.x; i < 2 * C; i += blockDim.x) sums[i] = 0.f;
  __syncthreads();
  const int lane = threadIdx.x % 32, warps = gridDim.x * (blockDim.x / 32);
  for (int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; row < N; row += warps) {
    const float* d = dout + (long long)row * C;
    const float* x = inp + (long long)row * C;
    const float m = mean[row], s = rstd[row];
    float a = 0.f, b = 0.f;
    for (int i = lane * 4; i < C; i += 128) {
      const float4 w4 = *(const float4*)(weight + i), d4 = *(const float4*)(d + i), x4 = *(const float4*)(x + i);
      const float e0 = w4.x * d4.x, e1 = w4.y * d4.y, e2 = w4.z * d4.z, e3 = w4.w * d4.w;
      a += e0 + e1 + e2 + e3;
      b += (e0 * (x4.x - m) + e1 * (x4.y - m) + e2 * (x4.z - m) + e3 * (x4.w - m)) * s;
    }
    for (int o = 16; o > 0; o /= 2) {
      a += __shfl_xor_sync(0xffffffffu, a, o);
      b += __shfl_xor_sync(0xffffffffu, b, o);
    }
    a /= C, b /= C;
    // Neighbouring lanes on neighbouring columns: no conflicts in shared memory.
    for (int i = lane; i < C; i += 32) {
      const float norm = (x[i] - m) * s, e = d[i];
      atomicAdd(&sum_b[i], e);
      atomicAdd(&sum_w[i], norm * e);
      dinp[(long long)row * C + i] = (weight[i] * e - a - norm * b) * s;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < C; i += blockDim.x) {
    atomicAdd(&dweight[i], sum_w[i]);
    atomicAdd(&dbias[i], sum_b[i]);
  }
}
