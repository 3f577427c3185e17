// One thread an element.
extern "C" __global__ void inplace(const float* x, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float value = x[i];
    out[i] = a * value * value + value;
  }
}
