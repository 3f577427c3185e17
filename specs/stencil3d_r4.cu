// 25-point star of radius 4: o = c[0]*in + sum_{r=1..4} c[r] * (the six neighbours at distance r
// along the axes). in, o: [nz, ny, nx], c: [5]. Points nearer than 4 to a face are copied. One
// thread a point.
extern "C" __global__ void stencil3d_r4(
    float* o, const float* in, int nx, int ny, int nz, const float* c) {
  int x = blockIdx.x * BLOCK_X + threadIdx.x;
  int y = blockIdx.y * BLOCK_Y + threadIdx.y;
  int z = blockIdx.z;
  if (x >= nx || y >= ny || z >= nz) return;

  int p = (z * ny + y) * nx + x;
  if (x < 4 || x >= nx - 4 || y < 4 || y >= ny - 4 || z < 4 || z >= nz - 4) {
    o[p] = in[p];
    return;
  }

  float sum = c[0] * in[p];
  for (int r = 1; r <= 4; r++) {
    sum += c[r] * (in[p - r] + in[p + r] + in[p - r * nx] + in[p + r * nx] + in[p - r * nx * ny] +
                   in[p + r * nx * ny]);
  }
  o[p] = sum;
}
