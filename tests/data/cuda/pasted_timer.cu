// Hides a clock behind pasted tokens and split strings.
// expect: ptx_rules
// contract: float32
#define J(a, b) a##b
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long t;
  J(as, m) volatile("mov.u" "64 %0, %%glo" "baltimer;" : "=l"(t));
  if (t & 1) return;
  if (i < n) y[i] = 2.0f * x[i];
}
