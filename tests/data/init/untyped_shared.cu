// Shared memory as bytes, for elements of a type that the kernel chooses.
template <typename T>
__global__ void row_sums(const T* x, T* sums, int cols) {
  extern __shared__ unsigned char memory[];
  T* part = reinterpret_cast<T*>(memory);
  T sum = 0;
  for (int j = threadIdx.x; j < cols; j += blockDim.x) sum += x[blockIdx.x * cols + j];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
