__global__ void reverse_block(const float* in, float* out, int n) {
  extern __shared__ float buffer[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (i < n) buffer[t] = in[i];
  __syncthreads();
  int last = min(blockDim.x, n - blockIdx.x * blockDim.x) - 1;
  if (i < n) out[i] = buffer[last - t];
}
void launch(const float* in, float* out, int n) {
  const int threads = 256;
  reverse_block<<<(n + threads - 1) / threads, threads, threads * sizeof(float)>>>(in, out, n);
}
