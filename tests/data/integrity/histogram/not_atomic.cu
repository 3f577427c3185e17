// Reads, adds and writes as three steps.
extern "C" __global__ void histogram(unsigned* h, const unsigned char* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) h[x[i]] += 1;
}
