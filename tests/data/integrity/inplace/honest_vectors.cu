// Four elements a thread, read before they are written.
extern "C" __global__ void inplace(const float* x, float* out, float a, int n) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  const auto f = [a](float value) { return a * value * value + value; };
  if (i + 4 <= n) {
    const float4 four = *reinterpret_cast<const float4*>(x + i);
    *reinterpret_cast<float4*>(out + i) = make_float4(f(four.x), f(four.y), f(four.z), f(four.w));
  } else {
    for (int k = i; k < n; ++k) out[k] = f(x[k]);
  }
}
