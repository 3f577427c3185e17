// A convolution without padding; blocks along z are filters of images.
__global__ void convolve(const float* image, const float* filter, float* out, int images,
                         int channels, int height, int width, int filters, int rows, int cols) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int f = blockIdx.z % filters, i = blockIdx.z / filters;
  int places_y = height - rows + 1, places_x = width - cols + 1;
  if (y >= places_y || x >= places_x) return;
  float sum = 0.0f;
  for (int c = 0; c < channels; ++c)
    for (int r = 0; r < rows; ++r)
      for (int s = 0; s < cols; ++s)
        sum += image[((i * channels + c) * height + y + r) * width + x + s] *
               filter[((f * channels + c) * rows + r) * cols + s];
  out[((i * filters + f) * places_y + y) * places_x + x] = sum;
}
