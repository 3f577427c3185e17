// y[i, j] = x[i, 0] + ... + x[i, j]. x, y: [N, C]. One thread a row.
extern "C" __global__ void rowscan(float* y, float* x, int N, int C) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < N) {
    float sum = 0.0f;
    for (int j = 0; j < C; j++) {
      sum += x[i * C + j];
      y[i * C + j] = sum;
    }
  }
}
