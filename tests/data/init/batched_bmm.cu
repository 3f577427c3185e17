__global__ void bmm(const float* a, const float* b, float* c, int batch, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z;
  if (z >= batch || row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; i++) sum += a[(z * m + row) * k + i] * b[(z * k + i) * n + col];
  c[(z * m + row) * n + col] = sum;
}
