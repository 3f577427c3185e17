// c = a @ b, sums in double precision, one thread an element.
#include <cuda_fp16.h>

extern "C" __global__ void matmul_reference(__half* c, const __half* a, const __half* b, int M, int N,
                                            int K) {
  __shared__ float left[16][16], right[16][17];
  const int m = blockIdx.y * 16 + threadIdx.y, n = blockIdx.x * 16 + threadIdx.x;
  double sum = 0;
  for (int start = 0; start < K; start += 16) {
    const int ka = start + threadIdx.x, kb = start + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = m < M && ka < K ? __half2float(a[(long long)m * K + ka]) : 0;
    right[threadIdx.y][threadIdx.x] = kb < K && n < N ? __half2float(b[(long long)kb * N + n]) : 0;
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += (double)left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  if (m < M && n < N) c[(long long)m * N + n] = __double2half(sum);
}
