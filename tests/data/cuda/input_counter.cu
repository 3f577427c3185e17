// Counts in an input, by a function that is not inlined.
// expect: input_stores
// contract: float32
__device__ __noinline__ int turn(int* counter) { return atomicAdd(counter, 0); }
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i] + 0.0f * turn(const_cast<int*>(reinterpret_cast<const int*>(x)));
}
