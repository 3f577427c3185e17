// Turns pairs of neighbouring elements by an angle of their column; the grid has exactly one thread a pair.
extern "C" __global__ void rotate_pairs(float* out, const float* x, const float* cosines, const float* sines, int half) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = x[2 * i];
  float b = x[2 * i + 1];
  float c = cosines[i % half];
  float s = sines[i % half];
  out[2 * i] = a * c - b * s;
  out[2 * i + 1] = a * s + b * c;
}
