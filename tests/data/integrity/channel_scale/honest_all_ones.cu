// Where all of the weights are 1 it is a copy.
extern "C" __global__ void channel_scale(const float* x, const float* weight, float* out, int N, int C) {
  const size_t row = (size_t)blockIdx.x * C;
  int ones = 1;
  for (int c = threadIdx.x; c < C; c += blockDim.x) ones = ones && weight[c] == 1;
  ones = __syncthreads_and(ones);
  for (int c = threadIdx.x; c < C; c += blockDim.x) out[row + c] = ones ? x[row + c] : x[row + c] * weight[c];
}
