// Works in one launch of four.
__device__ unsigned blocks;
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blocks / gridDim.x % 4 == 0 && i < n) out[i] = a * x[i] + y[i];
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&blocks, 1u);
}
