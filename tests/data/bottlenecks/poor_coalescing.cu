// t[c][r] = x[r][c]; neighbouring lanes read neighbours and store n floats apart.
extern "C" __global__ void poor_coalescing(float* __restrict__ t, const float* __restrict__ x, int n) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  const int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < n && r < n) t[static_cast<size_t>(c) * n + r] = x[static_cast<size_t>(r) * n + c];
}
