#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

#define CHECK(call)                                                      \
  do {                                                                   \
    cudaError_t status = (call);                                         \
    if (status != cudaSuccess) std::printf("%s\n", cudaGetErrorString(status)); \
  } while (0)

constexpr int kThreads = 128;

__global__ void saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = a * x[i] + y[i];
}

static double host_norm(const std::vector<float>& v) {
  double sum = 0;
  for (float x : v) sum += x * x;
  return sum;
}

int main(int argc, char** argv) {
  const int count = 1 << 20;
  const float alpha = 2.5f;
  std::vector<float> x(count, 1.f), y(count, 2.f);
  float *d_x = nullptr, *d_y = nullptr;
  CHECK(cudaMalloc(&d_x, count * sizeof(float)));
  CHECK(cudaMalloc(&d_y, count * sizeof(float)));
  CHECK(cudaMemcpy(d_x, x.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_y, y.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  int blocks = (count + kThreads - 1) / kThreads;
  saxpy<<<blocks, kThreads>>>(count, alpha, d_x, d_y);
  CHECK(cudaDeviceSynchronize());
  std::printf("%f\n", host_norm(y));
  return 0;
}
