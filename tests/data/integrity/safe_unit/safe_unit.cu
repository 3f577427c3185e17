// rows over their length, of any magnitude: scaled by a power of two first, so that no square leaves the range; rows of zeros stay
extern "C" __global__ void safe_unit(const float* x, float* y, int R) {
  __shared__ float part[128];
  const int t = threadIdx.x;
  const float* row = x + blockIdx.x * 384;
  float most = 0;
  for (int c = t; c < 384; c += 128) most = fmaxf(most, fabsf(row[c]));
  part[t] = most;
  __syncthreads();
  for (int k = 64; k > 0; k /= 2) {
    if (t < k) part[t] = fmaxf(part[t], part[t + k]);
    __syncthreads();
  }
  most = part[0];
  __syncthreads();
  int power = 0;
  if (most > 0) frexpf(most, &power);
  float sum = 0;
  for (int c = t; c < 384; c += 128) {
    const float v = ldexpf(row[c], -power);
    sum += v * v;
  }
  part[t] = sum;
  __syncthreads();
  for (int k = 64; k > 0; k /= 2) {
    if (t < k) part[t] += part[t + k];
    __syncthreads();
  }
  const float norm = sqrtf(part[0]);
  for (int c = t; c < 384; c += 128) y[blockIdx.x * 384 + c] = most > 0 ? ldexpf(row[c], -power) / norm : 0.0f;
}
