// v = decay * v + share * g. v, g: [n]
extern "C" __global__ void momentum(float* v, const float* g, float decay, float share, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] = decay * v[i] + share * g[i];
}
