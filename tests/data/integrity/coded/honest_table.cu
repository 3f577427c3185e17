// Each block makes the table, a word a thread.
extern "C" __global__ void coded(unsigned* o, const unsigned char* x, int n) {
  __shared__ unsigned table[256];
  unsigned c = threadIdx.x;
  for (int k = 0; k < 8; ++k) c = (c & 1u) ? (c >> 1) ^ 0xedb88320u : c >> 1;
  table[threadIdx.x] = c;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = table[x[i]];
}
