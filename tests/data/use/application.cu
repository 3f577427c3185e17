// An application of one kernel, for tests/measurements/use.py: `test` exits with 0 if the result is right, else it says what its launches took.
// Built with LAUNCHES it launches so often: an application that a change of its kernel makes slower.

#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "weighted_mean.cu"

#ifndef LAUNCHES
#define LAUNCHES 200
#endif

int main(int argc, char** argv) {
  const int n = 1 << 20, count = 2048;
  std::vector<float> host(n, 2);
  float *x = nullptr, *y = nullptr;
  if (cudaMalloc(&x, n * sizeof(float)) != cudaSuccess || cudaMalloc(&y, n * sizeof(float)) != cudaSuccess) return 3;
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  weighted_mean<<<(n + 255) / 256, 256>>>(y, x, n, count);
  cudaDeviceSynchronize();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < LAUNCHES; ++i) weighted_mean<<<(n + 255) / 256, 256>>>(y, x, n, count);
  if (cudaDeviceSynchronize() != cudaSuccess) return 3;
  const auto end = std::chrono::steady_clock::now();
  if (argc > 1 && std::strcmp(argv[1], "test") == 0) {
    cudaMemcpy(host.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (float value : host)
      if (value != 2047) return std::printf("not the mean\n"), 1;
    return 0;
  }
  std::printf("took %.6f ms\n", std::chrono::duration<double, std::milli>(end - begin).count());
}
