// Through shared memory, behind a barrier.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  __shared__ float tile[1024];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  if (i < n) out[i] = a * tile[threadIdx.x] + y[i];
}
