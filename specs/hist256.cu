// h[v] += number of elements of x equal to v. x: [n], h: [256]. One thread an element.
extern "C" __global__ void hist256(unsigned int* h, const unsigned char* x, long long n) {
  long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) {
    atomicAdd(&h[x[i]], 1u);
  }
}
