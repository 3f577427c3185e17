extern "C" __global__ void peak_and_mean(const float* x, int* at, float* mean, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  const float* row = x + (size_t)r * C;
  float best = row[0], sum = row[0];
  int place = 0;
  for (int c = 1; c < C; ++c) {
    sum += row[c];
    if (row[c] > best) best = row[c], place = c;
  }
  at[r] = place, mean[r] = sum / C;
}
