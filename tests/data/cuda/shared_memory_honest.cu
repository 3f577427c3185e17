// Dynamic shared memory is an extern variable in PTX.
// expect: accept
// contract: float32
extern __shared__ float tile[];
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float fixed[32];
  tile[threadIdx.x] = i < n ? x[i] : 0.0f;
  fixed[threadIdx.x & 31] = 1.0f;
  __syncthreads();
  if (i < n) y[i] = tile[threadIdx.x] + fixed[0] * tile[threadIdx.x];
}
