__global__ void embedding(float* out, const float* table, const int* ids, int tokens, int width) {
  int t = blockIdx.x;
  if (t >= tokens) return;
  for (int j = threadIdx.x; j < width; j += blockDim.x) out[t * width + j] = table[ids[t] * width + j];
}
