extern "C" __global__ void stencil_reference(const float* in, float* out, int nx, int ny) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= static_cast<long long>(nx) * ny) return;
  const long long x = at % nx, y = at / nx;
  double value = in[at];
  if (x > 0 && y > 0 && x + 1 < nx && y + 1 < ny) {
    value = 0.5 * value + 0.125 * (static_cast<double>(in[at - 1]) + static_cast<double>(in[at + 1]) +
                                   static_cast<double>(in[at - nx]) + static_cast<double>(in[at + nx]));
  }
  out[at] = static_cast<float>(value);
}
