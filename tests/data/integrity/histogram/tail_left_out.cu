// Whole groups of 16 only.
extern "C" __global__ void histogram(unsigned* h, const unsigned char* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - n % 16) atomicAdd(h + x[i], 1u);
}
