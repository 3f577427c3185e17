typedef unsigned char uchar_t;
__global__ void to_grey(const uchar_t* rgb, uchar_t* grey, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    int p = y * width + x;
    grey[p] = (uchar_t)((rgb[3 * p] * 77 + rgb[3 * p + 1] * 150 + rgb[3 * p + 2] * 29) >> 8);
  }
}
