// An integer exchange makes the compiler declare an unused variable in device memory.
// expect: accept
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicExch((int*)y + i, __float_as_int(2.0f * x[i]));
}
