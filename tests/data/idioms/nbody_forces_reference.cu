extern "C" __global__ void nbody_forces_reference(float* acc, const float4* pos, float softening, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum[3] = {0, 0, 0};
  for (int j = 0; j < n; ++j) {
    const double d[3] = {static_cast<double>(pos[j].x) - pos[i].x, static_cast<double>(pos[j].y) - pos[i].y,
                         static_cast<double>(pos[j].z) - pos[i].z};
    const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening;
    for (int axis = 0; axis < 3; ++axis) sum[axis] += pos[j].w * d[axis] / (square * sqrt(square));
  }
  for (int axis = 0; axis < 3; ++axis) acc[3 * i + axis] = static_cast<float>(sum[axis]);
}
