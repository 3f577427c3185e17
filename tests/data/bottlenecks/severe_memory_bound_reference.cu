extern "C" __global__ void severe_memory_bound_reference(float* c, const float* a, const float* b, float s, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
    double sum = 0;
    for (int k = 0; k < 4; ++k) sum += (double)a[4 * i + k] * b[4 * i + k];
    c[i] = (float)(s * sum);
  }
}
