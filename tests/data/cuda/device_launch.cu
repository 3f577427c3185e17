// Launches another kernel from the device.
// expect: compile_error
// contract: float32
__global__ void child(float* y) { y[0] = 1; }
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) child<<<1, 1>>>(y);
}
