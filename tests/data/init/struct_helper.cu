struct Welford {
  float mean, m2;
  int count;
  __device__ void add(float x) {
    ++count;
    float d = x - mean;
    mean += d / count;
    m2 += d * (x - mean);
  }
};
__global__ void variance(const float* x, float* var, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  Welford w = {0.f, 0.f, 0};
  for (int c = 0; c < cols; ++c) w.add(x[r * cols + c]);
  var[r] = w.m2 / cols;
}
