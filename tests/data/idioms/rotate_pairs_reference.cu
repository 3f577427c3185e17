extern "C" __global__ void rotate_pairs_reference(float* out, const float* x, const float* cosines, const float* sines,
                                                  int half) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int column = static_cast<int>(i % half);
  const double a = x[2 * i], b = x[2 * i + 1], c = cosines[column], s = sines[column];
  out[2 * i] = static_cast<float>(a * c - b * s);
  out[2 * i + 1] = static_cast<float>(a * s + b * c);
}
