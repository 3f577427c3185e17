extern "C" __global__ void severe_memory_bound_reference(float* c, const float* a, const float* b, float s, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + s * b[i];
}
