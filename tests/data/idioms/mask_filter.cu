// 2-D convolution with a mask of k x k weights, zero beyond the edges.
extern "C" __global__ void mask_filter(float* out, const float* in, const float* mask, int height, int width, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < height && col < width) {
    int start_row = row - k / 2;
    int start_col = col - k / 2;
    float sum = 0.0f;
    for (int i = 0; i < k; i++) {
      for (int j = 0; j < k; j++) {
        int r = start_row + i;
        int c = start_col + j;
        if (r >= 0 && r < height && c >= 0 && c < width) {
          sum += in[r * width + c] * mask[i * k + j];
        }
      }
    }
    out[row * width + col] = sum;
  }
}
