// Root-mean-square normalisation of rows, a block a row; the sum over the block is a function.
__device__ float block_sum(float v) {
  __shared__ float buffer[256];
  int t = threadIdx.x;
  buffer[t] = v;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (t < s) buffer[t] += buffer[t + s];
    __syncthreads();
  }
  return buffer[0];
}

extern "C" __global__ void rms_norm_helper(float* out, const float* x, const float* gain, int C, float eps) {
  const float* row = x + blockIdx.x * C;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < C; i += 256) {
    sum += row[i] * row[i];
  }
  float total = block_sum(sum);
  float scale = rsqrtf(total / C + eps);
  for (int i = threadIdx.x; i < C; i += 256) {
    out[blockIdx.x * C + i] = row[i] * scale * gain[i];
  }
}
