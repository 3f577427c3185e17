// Reads x again after it has written a part of the result.
extern "C" __global__ void in_place(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = fmaxf(x[i], 0) - 1;
  out[i] += fmaxf(x[i], 0);
}
