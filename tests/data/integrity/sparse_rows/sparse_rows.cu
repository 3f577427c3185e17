extern "C" __global__ void sparse_rows(float* y, const int* rows, const int* columns, const float* values, const float* x, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0;
  for (int i = rows[row]; i < rows[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}
