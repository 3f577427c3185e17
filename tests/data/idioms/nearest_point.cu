// Squared distance from each point of one cloud to the nearest of another; rows are x, y, z.
extern "C" __global__ void nearest_point(float* dist, const float* xyz1, const float* xyz2, int N, int M) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (tid < N) {
    float x1 = xyz1[tid * 3 + 0];
    float y1 = xyz1[tid * 3 + 1];
    float z1 = xyz1[tid * 3 + 2];
    float best = 1e30f;
    for (int k = 0; k < M; k++) {
      float dx = xyz2[k * 3 + 0] - x1;
      float dy = xyz2[k * 3 + 1] - y1;
      float dz = xyz2[k * 3 + 2] - z1;
      float d = dx * dx + dy * dy + dz * dz;
      if (d < best) {
        best = d;
      }
    }
    dist[tid] = best;
  }
}
