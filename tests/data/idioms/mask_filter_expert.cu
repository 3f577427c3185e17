// A tile of 32 x 32 outputs with its halo and the mask in shared memory; four rows of a column a thread, so that an
// element that is read serves four of them. k is odd and at most 15.
extern "C" __global__ void __launch_bounds__(256)
    mask_filter(float* __restrict__ out, const float* __restrict__ in, const float* __restrict__ mask, int height, int width,
                int k) {
  __shared__ float tile[46][48];
  __shared__ float weights[15 * 15];
  const int t = threadIdx.y * 32 + threadIdx.x, side = 32 + k - 1;
  const int y0 = blockIdx.y * 32 - k / 2, x0 = blockIdx.x * 32 - k / 2;
  for (int i = t; i < k * k; i += 256) weights[i] = mask[i];
  for (int y = threadIdx.y; y < side; y += 8)
    for (int x = threadIdx.x; x < side; x += 32) {
      const int r = y0 + y, c = x0 + x;
      tile[y][x] = r >= 0 && r < height && c >= 0 && c < width ? in[r * width + c] : 0.f;
    }
  __syncthreads();
  const int first = threadIdx.y * 4;
  float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
  for (int j = 0; j < k; j++) {
    const float* column = &tile[first][threadIdx.x + j];
    float a = column[0], b = column[48], c = column[96];
    for (int i = 0; i < k; i++) {
      const float d = column[(i + 3) * 48], w = weights[i * k + j];
      s0 += a * w, s1 += b * w, s2 += c * w, s3 += d * w;
      a = b, b = c, c = d;
    }
  }
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + first;
  if (col >= width) return;
  if (row < height) out[row * width + col] = s0;
  if (row + 1 < height) out[(row + 1) * width + col] = s1;
  if (row + 2 < height) out[(row + 2) * width + col] = s2;
  if (row + 3 < height) out[(row + 3) * width + col] = s3;
}
