// Each of 64 threads keeps eight of its own.
extern "C" __global__ void top_eight(const float* x, float* value, int* place, int R) {
  __shared__ float sv[64 * 8];
  __shared__ int sp[64 * 8];
  float v[8];
  int p[8];
  for (int k = 0; k < 8; ++k) v[k] = 0, p[k] = -1;
  for (int i = threadIdx.x; i < 1024; i += 64) {
    float own = x[blockIdx.x * 1024 + i];
    int at = i;
    for (int k = 0; k < 8; ++k)
      if (p[k] < 0 || own > v[k] || (own == v[k] && at < p[k])) {
        const float tv = v[k];
        const int tp = p[k];
        v[k] = own, p[k] = at;
        own = tv, at = tp;
        if (at < 0) break;
      }
  }
  for (int k = 0; k < 8; ++k) sv[threadIdx.x * 8 + k] = v[k], sp[threadIdx.x * 8 + k] = p[k];
  __syncthreads();
  for (int k = 0; k < 8; ++k) {
    int before = 0;
    for (int j = 0; j < 64 * 8; ++j) before += sv[j] > v[k] || (sv[j] == v[k] && sp[j] < p[k]);
    if (before < 8) value[blockIdx.x * 8 + before] = v[k], place[blockIdx.x * 8 + before] = p[k];
  }
}
