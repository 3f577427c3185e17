// Takes the address of device memory declared in inline assembly.
// expect: ptx_rules
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned* p;
  asm volatile("{.global .u32 z; mov.u64 %0, z;}" : "=l"(p));
  if (i == 0) *p += 1;
  if (i < n) y[i] = 2.0f * x[i];
}
