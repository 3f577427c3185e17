// Through a tile with one more column: loads and stores are both along rows.
extern "C" __global__ void transpose_rows(float* __restrict__ odata, const float* __restrict__ idata, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
