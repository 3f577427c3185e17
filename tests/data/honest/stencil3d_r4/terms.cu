// 25 products, one after the other; or a tile of the plane in shared memory if TILE.
extern "C" __global__ void stencil3d_r4(float* o, const float* in, int nx, int ny, int nz, const float* c) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z, plane = nx * ny;
  const int p = (z * ny + y) * nx + x;
#if TILE
  __shared__ float tile[16][41];
  for (int i = threadIdx.y; i < 16; i += 8)
    for (int j = threadIdx.x; j < 40; j += 32) {
      const int ty = (int)blockIdx.y * 8 + i - 4, tx = (int)blockIdx.x * 32 + j - 4;
      tile[i][j] = tx >= 0 && tx < nx && ty >= 0 && ty < ny ? in[(z * ny + ty) * nx + tx] : 0.0f;
    }
  __syncthreads();
#define AT(dx, dy) tile[threadIdx.y + 4 + (dy)][threadIdx.x + 4 + (dx)]
#else
#define AT(dx, dy) in[p + (dy) * nx + (dx)]
#endif
  if (x >= nx || y >= ny) return;
  if (x < 4 || x >= nx - 4 || y < 4 || y >= ny - 4 || z < 4 || z >= nz - 4) {
    o[p] = in[p];
    return;
  }
  float sum = 0;
  for (int d = -4; d <= 4; ++d) {
    const float weight = c[d < 0 ? -d : d];
    sum += weight * AT(d, 0);
    if (d != 0) sum += weight * AT(0, d), sum += weight * in[p + d * plane];
  }
  o[p] = sum;
}
