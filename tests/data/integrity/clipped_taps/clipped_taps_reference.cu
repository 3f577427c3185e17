extern "C" __global__ void clipped_taps_reference(float* y, const float* x, const float* w, int R, int C) {
  int r = blockIdx.x;
  for (int c = threadIdx.x; c < C; c += blockDim.x) {
    double sum = 0.0;
    for (int k = 0; k < 5; ++k) {
      int at = c + k - 2;
      if (at >= 0 && at < C) sum += (double)w[r * 5 + k] * x[r * C + at];
    }
    y[r * C + c] = (float)fmin(fmax(sum, 0.0), 6.0);
  }
}
