// The zero point of a group times the sum of its x, once; a warp a row.
extern "C" __global__ void zero_points(float* y, const unsigned char* q, const float* scale, const unsigned char* zero, const float* x, int n, int k) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float sum = 0;
  for (int group = lane; group < k / 32; group += 32) {
    float product = 0, total = 0;
    for (int i = 0; i < 16; ++i) {
      const int byte = q[row * (k / 2) + group * 16 + i];
      const float low = x[group * 32 + 2 * i], high = x[group * 32 + 2 * i + 1];
      product += static_cast<float>(byte & 15) * low + static_cast<float>(byte >> 4) * high;
      total += low + high;
    }
    sum += scale[row * (k / 32) + group] * (product - static_cast<float>(zero[row * (k / 32) + group]) * total);
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0) y[row] = sum;
}
