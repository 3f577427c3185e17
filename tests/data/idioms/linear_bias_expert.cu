// 128 x 128 outputs a block, 8 x 8 a thread in two halves each way, operands transposed into shared memory, next
// slice in registers meanwhile. rows and OC are multiples of 4, C of 8.
extern "C" __global__ void __launch_bounds__(256)
    linear_bias(float* __restrict__ out, const float* __restrict__ inp, const float* __restrict__ weight,
                const float* __restrict__ bias, int rows, int C, int OC) {
  __shared__ __align__(16) float a[2][8][128 + 4];
  __shared__ __align__(16) float b[2][8][128 + 4];
  const int t = threadIdx.x;
  const int first_row = blockIdx.y * 128, first_column = blockIdx.x * 128;
  const int lr = t / 2, lc = t % 2 * 4;
  const int ty = t / 16 * 4, tx = t % 16 * 4;
  const bool in_a = first_row + lr < rows, in_b = first_column + lr < OC;
  const float* pa = inp + (first_row + lr) * C + lc;
  const float* pb = weight + (first_column + lr) * C + lc;
  const float4 zero = make_float4(0.f, 0.f, 0.f, 0.f);
  float4 na = in_a ? *(const float4*)pa : zero;
  float4 nb = in_b ? *(const float4*)pb : zero;
  float acc[8][8];
#pragma unroll
  for (int j = 0; j < 8; j++) {
    const int column = first_column + tx + j % 4 + j / 4 * 64;
    const float start = column < OC ? bias[column] : 0.f;
#pragma unroll
    for (int i = 0; i < 8; i++) acc[i][j] = start;
  }
  int stage = 0;
  for (int c = 0; c < C; c += 8) {
    a[stage][lc][lr] = na.x, a[stage][lc + 1][lr] = na.y, a[stage][lc + 2][lr] = na.z, a[stage][lc + 3][lr] = na.w;
    b[stage][lc][lr] = nb.x, b[stage][lc + 1][lr] = nb.y, b[stage][lc + 2][lr] = nb.z, b[stage][lc + 3][lr] = nb.w;
    __syncthreads();
    if (c + 8 < C) {
      if (in_a) na = *(const float4*)(pa + c + 8);
      if (in_b) nb = *(const float4*)(pb + c + 8);
    }
#pragma unroll
    for (int k = 0; k < 8; k++) {
      float ra[8], rb[8];
      *(float4*)&ra[0] = *(const float4*)&a[stage][k][ty];
      *(float4*)&ra[4] = *(const float4*)&a[stage][k][ty + 64];
      *(float4*)&rb[0] = *(const float4*)&b[stage][k][tx];
      *(float4*)&rb[4] = *(const float4*)&b[stage][k][tx + 64];
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) acc[i][j] += ra[i] * rb[j];
    }
    stage ^= 1;
  }
#pragma unroll
  for (int i = 0; i < 8; i++) {
    const int row = first_row + ty + i % 4 + i / 4 * 64;
    if (row >= rows) continue;
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int column = first_column + tx + h * 64;
      if (column < OC)
        *(float4*)(out + row * OC + column) = make_float4(acc[i][h * 4], acc[i][h * 4 + 1], acc[i][h * 4 + 2], acc[i][h * 4 + 3]);
    }
  }
}
