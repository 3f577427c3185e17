extern "C" __global__ void nearest_point_reference(float* dist, const float* xyz1, const float* xyz2, int N, int M) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  double best = 1e30;
  for (int k = 0; k < M; ++k) {
    double sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const double d = static_cast<double>(xyz2[3 * k + axis]) - xyz1[3 * i + axis];
      sum += d * d;
    }
    best = fmin(best, sum);
  }
  dist[i] = static_cast<float>(best);
}
