#define KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define SQUARE(x) ((x) * (x))
__global__ void distance(const int count, const float* a, const float* b, float* d) {
  KERNEL_LOOP(k, count) { d[k] = sqrtf(SQUARE(a[k] - b[k])); }
}
