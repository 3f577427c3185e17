#define RADIUS 3
__constant__ float taps[2 * RADIUS + 1];
__global__ void convolve(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.f;
  for (int k = -RADIUS; k <= RADIUS; ++k) {
    int j = min(max(i + k, 0), n - 1);
    sum += taps[k + RADIUS] * in[j];
  }
  out[i] = sum;
}
