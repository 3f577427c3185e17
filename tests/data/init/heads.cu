// Blocks along z are heads of a batch, which the indices put together again.
__global__ void scores(const float* q, const float* k, float* s, int batch, int heads, int length,
                       int width, float scale) {
  int b = blockIdx.z / heads, h = blockIdx.z % heads;
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= length || j >= length) return;
  const float* row = q + ((b * heads + h) * length + i) * width;
  const float* column = k + ((b * heads + h) * length + j) * width;
  float sum = 0.0f;
  for (int d = 0; d < width; ++d) sum += row[d] * column[d];
  s[((b * heads + h) * length + i) * length + j] = sum * scale;
}
