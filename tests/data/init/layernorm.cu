__global__ void layernorm(const float* __restrict__ inp, const float* __restrict__ weight, const float* __restrict__ bias,
                          float* __restrict__ out, float* mean, float* rstd, int N, int C, float eps) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx < N) {
    const float* x = inp + idx * C;
    float m = 0.0f;
    for (int i = 0; i < C; i++) m += x[i];
    m = m / C;
    float v = 0.0f;
    for (int i = 0; i < C; i++) { float d = x[i] - m; v += d * d; }
    float s = rsqrtf(v / C + eps);
    float* o = out + idx * C;
    for (int i = 0; i < C; i++) o[i] = s * (x[i] - m) * weight[i] + bias[i];
    mean[idx] = m;
    rstd[idx] = s;
  }
}
