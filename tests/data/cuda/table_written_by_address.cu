// Writes an initialised table through a computed address.
// expect: ptx_rules
// contract: float32
__device__ float table[64] = {1};
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float* p = table + (i & 63);
  if (i < n) { *p = x[i]; y[i] = 2.0f * *p; }
}
