// Mean and variance in one pass over the differences from the group's first value.
extern "C" __global__ void groupnorm_silu(float* o, const float* x, const float* w, const float* b, int B, int C, int HW, int G) {
  __shared__ float sums[128], squares[128];
  const int channels = C / G, size = channels * HW, start = blockIdx.x * size;
  const float pivot = x[start];
  float sum = 0, square = 0;
  for (int i = threadIdx.x; i < size; i += 128) {
    const float d = x[start + i] - pivot;
    sum += d;
    square += d * d;
  }
  sums[threadIdx.x] = sum, squares[threadIdx.x] = square;
  for (int stride = 64; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) sums[threadIdx.x] += sums[threadIdx.x + stride], squares[threadIdx.x] += squares[threadIdx.x + stride];
  }
  __syncthreads();
  const float shift = sums[0] / size, variance = fmaxf(squares[0] / size - shift * shift, 0.0f), scale = 1.0f / sqrtf(variance + 1e-5f);
  for (int i = threadIdx.x; i < size; i += 128) {
    const int c = blockIdx.x % G * channels + i / HW;
    const float y = (x[start + i] - pivot - shift) * scale * w[c] + b[c];
    o[start + i] = __fdividef(y, 1.0f + __expf(-y));
  }
}
