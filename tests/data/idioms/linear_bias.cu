// Fully connected layer: out[r][o] = bias[o] + sum over c of inp[r][c] * weight[o][c].
extern "C" __global__ void linear_bias(float* out, const float* inp, const float* weight, const float* bias, int rows,
                                       int C, int OC) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  int o = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && o < OC) {
    float val = bias[o];
    const float* row = inp + r * C;
    const float* w = weight + o * C;
    for (int c = 0; c < C; c++) {
      val += row[c] * w[c];
    }
    out[r * OC + o] = val;
  }
}
