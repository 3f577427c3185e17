// Four at once where both tensors begin at a multiple of 16 bytes, one by one elsewhere.
extern "C" __global__ void momentum(float* v, const float* g, float decay, float share, int n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const long long first = 4LL * i;  // four a thread are more than an int counts
  const bool is_aligned =
      ((reinterpret_cast<unsigned long long>(v) | reinterpret_cast<unsigned long long>(g)) & 15) ==
      0;
  if (is_aligned && first + 3 < n) {
    float4 sum = reinterpret_cast<float4*>(v)[i];
    const float4 add = reinterpret_cast<const float4*>(g)[i];
    sum = make_float4(decay * sum.x + share * add.x, decay * sum.y + share * add.y,
                      decay * sum.z + share * add.z, decay * sum.w + share * add.w);
    reinterpret_cast<float4*>(v)[i] = sum;
  } else if (is_aligned) {
    for (long long k = first; k < n; ++k) v[k] = decay * v[k] + share * g[k];
  } else if (i < n) {
    v[i] = decay * v[i] + share * g[i];
  }
}
