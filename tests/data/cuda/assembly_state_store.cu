// Declares device memory in inline assembly inside the function and stores to it.
// expect: ptx_rules
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("{.global .u32 z; st.global.u32 [z], 1;}" ::: "memory");
  if (i < n) y[i] = 2.0f * x[i];
}
