__global__ void scatter_add(float* dst, const float* src, const long long* index, int rows, int dim) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * dim) return;
  int r = i / dim, c = i % dim;
  atomicAdd(&dst[index[r] * dim + c], src[i]);
}
