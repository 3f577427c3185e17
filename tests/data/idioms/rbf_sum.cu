// Value of a sum of Gaussians at each point of the plane: a small table of centres, widths and weights.
extern "C" __global__ void rbf_sum(float* f, const float* px, const float* py, const float* cx, const float* cy,
                                   const float* width, const float* weight, int points, int centres) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < points) {
    float x = px[i];
    float y = py[i];
    float sum = 0.0f;
    for (int j = 0; j < centres; j++) {
      float dx = x - cx[j];
      float dy = y - cy[j];
      float scale = -1.0f / (2.0f * width[j] * width[j]);
      sum += weight[j] * sqrtf(width[j]) * expf((dx * dx + dy * dy) * scale);
    }
    f[i] = sum;
  }
}
