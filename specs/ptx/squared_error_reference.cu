// out[i] = (a[i] - b[i])^2 in double precision.
extern "C" __global__ void squared_error_reference(float* out, const float* a, const float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double d = (double)a[i] - (double)b[i];
  out[i] = (float)(d * d);
}
