// One flat index over the points, coordinates by division; fp64 sum, one axis after the other.
extern "C" __global__ void stencil3d_r4_reference(
    float* o, const float* in, int nx, int ny, int nz, const float* c) {
  const long long point = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (point >= static_cast<long long>(nx) * ny * nz) return;
  const long long size[3] = {nx, ny, nz};
  const long long pitch[3] = {1, nx, static_cast<long long>(nx) * ny};
  double sum = static_cast<double>(c[0]) * static_cast<double>(in[point]);
  bool inside = true;
  for (int axis = 0; axis < 3; ++axis) {
    const long long at = point / pitch[axis] % size[axis];
    inside = inside && at >= 4 && at + 4 < size[axis];
    if (!inside) break;
    for (int offset = -4; offset <= 4; ++offset) {
      if (offset == 0) continue;
      sum += static_cast<double>(c[offset < 0 ? -offset : offset]) *
             static_cast<double>(in[point + offset * pitch[axis]]);
    }
  }
  o[point] = inside ? static_cast<float>(sum) : in[point];
}
