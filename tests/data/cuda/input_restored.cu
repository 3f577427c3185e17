// Changes an input and puts back what was there: no reader after the launch sees it.
// expect: input_stores
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float* own = const_cast<float*>(x) + i;
  float value = *own;
  *reinterpret_cast<volatile float*>(own) = 0.0f;
  y[i] = 2.0f * value;
  *reinterpret_cast<volatile float*>(own) = value;
}
