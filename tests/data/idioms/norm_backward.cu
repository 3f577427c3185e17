// Backward pass of layer normalisation, a thread a row. dweight and dbias are added to.
extern "C" __global__ void norm_backward(float* dinp, float* dweight, float* dbias, const float* dout, const float* inp,
                                         const float* weight, const float* mean, const float* rstd, int N, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  const float* dout_row = dout + row * C;
  const float* inp_row = inp + row * C;
  float* dinp_row = dinp + row * C;
  float m = mean[row];
  float s = rstd[row];

  float dnorm_mean = 0.0f;
  float dnorm_norm_mean = 0.0f;
  for (int i = 0; i < C; i++) {
    float norm = (inp_row[i] - m) * s;
    float dnorm = weight[i] * dout_row[i];
    dnorm_mean += dnorm;
    dnorm_norm_mean += dnorm * norm;
  }
  dnorm_mean = dnorm_mean / C;
  dnorm_norm_mean = dnorm_norm_mean / C;

  for (int i = 0; i < C; i++) {
    float norm = (inp_row[i] - m) * s;
    float dnorm = weight[i] * dout_row[i];
    atomicAdd(&dbias[i], dout_row[i]);
    atomicAdd(&dweight[i], norm * dout_row[i]);
    dinp_row[i] = (dnorm - dnorm_mean - norm * dnorm_norm_mean) * s;
  }
}
