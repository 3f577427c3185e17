extern "C" __global__ void gated(float* y, const float* gate, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = gate[i] / (1.0f + expf(-gate[i])) * x[i];
}
