extern "C" __global__ void lookup_reference(const float* x, const float* points, float* y, int N, int P) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float at = fminf(fmaxf(x[i], 0.0f), 1.0f) * (P - 1);
  int left = (int)at;
  if (left == P - 1) {
    y[i] = points[left];
    return;
  }
  double weight = (double)at - left;
  y[i] = (float)((1.0 - weight) * points[left] + weight * points[left + 1]);
}
