// Multiplies in TF32 where float32 is declared.
// expect: instruction_precision
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned a = __float_as_uint(x[i & 31]), z = 0;
  float d[4];
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};" : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "r"(a), "r"(a), "r"(a), "f"(0.0f), "r"(z));
  if (i < n) y[i] = d[0];
}
