// A warp's window in shared memory, 32-bit products in pairs where they fit.
extern "C" __global__ void correlation(const short* x, const short* y, long long* out, int n, int m) {
  extern __shared__ short window[];
  const int first = blockIdx.x * blockDim.x;
  for (int k = threadIdx.x; k < blockDim.x + m - 1; k += blockDim.x)
    window[k] = first + k < n ? x[first + k] : 0;
  __syncthreads();
  if (first + (int)threadIdx.x > n - m) return;
  long long sum = 0;
  for (int k = 0; k < m; ++k) sum += window[threadIdx.x + k] * y[k];
  out[first + threadIdx.x] = sum;
}
