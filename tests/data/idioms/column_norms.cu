// Length of each column of a tall matrix: a block a column, a tree in shared memory.
extern "C" __global__ void column_norms(float* norms, const float* a, int rows, int cols) {
  __shared__ float partial[256];
  int col = blockIdx.x;
  float sum = 0.0f;
  for (int r = threadIdx.x; r < rows; r += blockDim.x) {
    float v = a[r * cols + col];
    sum += v * v;
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) {
      partial[threadIdx.x] += partial[threadIdx.x + s];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    norms[col] = sqrtf(partial[0]);
  }
}
