// A function that is not inlined reads the output through the read-only path, by a pointer made of two halves.
// expect: read_only_path
// contract: float32
__device__ __noinline__ float fetch(unsigned high, unsigned low, int i) {
  const float* p = nullptr;
  asm("mov.b64 %0, {%1, %2};" : "=l"(p) : "r"(low), "r"(high));
  return __ldg(p + i);
}
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicExch(y + i, x[i]);
  unsigned low, high;
  asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(y));
  y[i] += fetch(high, low, (i + 1) % n);
}
