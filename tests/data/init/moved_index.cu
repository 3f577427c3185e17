// The index moves by a distance that depends on the row: twice the row that repeats.
__global__ void scale_columns(float* y, const float* x, int rows, int cols, int repeated_offset) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= cols) return;
  int at = col;
  for (int row = 0; row < rows; ++row) {
    y[at] = 2.f * x[at];
    if (row != repeated_offset) at += cols;
  }
}
