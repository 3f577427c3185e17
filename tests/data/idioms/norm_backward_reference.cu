// The first N threads make a row of dinp each, the next C a column of dweight and dbias.
extern "C" __global__ void norm_backward_reference(float* dinp, float* dweight, float* dbias, const float* dout,
                                                   const float* inp, const float* weight, const float* mean,
                                                   const float* rstd, int N, int C) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) {
    const long long first = static_cast<long long>(i) * C;
    double a = 0, b = 0;
    for (int c = 0; c < C; ++c) {
      const double d = static_cast<double>(weight[c]) * dout[first + c];
      a += d;
      b += d * (static_cast<double>(inp[first + c]) - mean[i]) * rstd[i];
    }
    for (int c = 0; c < C; ++c) {
      const double norm = (static_cast<double>(inp[first + c]) - mean[i]) * rstd[i];
      dinp[first + c] =
          static_cast<float>((static_cast<double>(weight[c]) * dout[first + c] - a / C - norm * b / C) * rstd[i]);
    }
  } else if (i < N + C) {
    const int c = i - N;
    double w = 0, b = 0;
    for (long long r = 0; r < N; ++r) {
      b += dout[r * C + c];
      w += (static_cast<double>(inp[r * C + c]) - mean[r]) * rstd[r] * dout[r * C + c];
    }
    dweight[c] += static_cast<float>(w);
    dbias[c] += static_cast<float>(b);
  }
}
