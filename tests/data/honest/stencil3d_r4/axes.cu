// A sum an axis, the outermost distance first; ROWS planes a thread with the column in registers if ROWS > 1.
extern "C" __global__ void stencil3d_r4(float* o, const float* in, int nx, int ny, int nz, const float* c) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int plane = nx * ny;
  for (int z = blockIdx.z * ROWS; z < min(nz, (int)(blockIdx.z + 1) * ROWS); ++z) {
    if (x >= nx || y >= ny) continue;
    const int p = z * plane + y * nx + x;
    if (x < 4 || x >= nx - 4 || y < 4 || y >= ny - 4 || z < 4 || z >= nz - 4) {
      o[p] = in[p];
      continue;
    }
    float along = 0, across = 0, up = 0;
    for (int r = 4; r >= 1; --r) {
      along = fmaf(c[r], in[p - r] + in[p + r], along);
      across = fmaf(c[r], in[p - r * nx] + in[p + r * nx], across);
      up = fmaf(c[r], in[p - r * plane] + in[p + r * plane], up);
    }
    o[p] = c[0] * in[p] + (up + (across + along));
  }
}
