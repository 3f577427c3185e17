#include <cuda_runtime.h>

// As many threads as there are elements, a number that only the host knows.
__global__ void add_quads(float* a, float* b, float* c) {
  int at = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  float4 x = *reinterpret_cast<float4*>(&a[at]);
  float4 y = *reinterpret_cast<float4*>(&b[at]);
  *reinterpret_cast<float4*>(&c[at]) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

int main() {
  const int n = 1 << 25;
  float *a, *b, *c;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMalloc(&c, n * sizeof(float));
  add_quads<<<n / 4 / 256, 256>>>(a, b, c);
}
