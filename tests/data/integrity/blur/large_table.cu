// A table of 16 KiB where seven numbers would do: answers could stand there.
__constant__ float weights[4096] = {1, 6, 15, 20, 15, 6, 1, 0.5f};
extern "C" __global__ void blur(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < 7; ++k) sum += i + k >= 3 && i + k - 3 < n ? weights[k + (n < 0 ? i : 0)] * x[i + k - 3] : 0.0f;
  out[i] = sum * 0.015625f;
}
