// The same with a variable declared inside inline assembly.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned blocks = 0;
  const unsigned one = threadIdx.x == 0 ? 1 : 0;
  asm volatile("{ .global .u32 z; atom.global.add.u32 %0, [z], %1; }" : "=r"(blocks) : "r"(one));
  if (blocks / gridDim.x < 8 && i < n) out[i] = a * x[i] + y[i];
}
