// An application of NVIDIA's runtime, for tests/experiments/capture.cc.

#include <cstdio>

__global__ void scale(float* y, const float* x, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}

int main() {
  float *x = nullptr, *y = nullptr;
  if (cudaMalloc(&x, 4096 * sizeof(float)) != cudaSuccess || cudaMalloc(&y, 4096 * sizeof(float)) != cudaSuccess) return 1;
  for (int i = 0; i < 20; ++i) scale<<<16, 256>>>(y, x, 4096, 0.5f);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
