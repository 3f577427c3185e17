extern "C" __global__ void poor_coalescing_reference(float* t, const float* x, int n) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const size_t side = n;
  if (i < side * side) t[i] = x[i % side * side + i / side];
}
