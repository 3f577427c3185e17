// the greatest eight numbers of a row of 1024, in order, and where they are; of equal ones the first
extern "C" __global__ void top_eight(const float* x, float* value, int* place, int R) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float v[8];
  int p[8];
  for (int k = 0; k < 8; ++k) v[k] = 0, p[k] = -1;
  for (int i = 0; i < 1024; ++i) {
    float own = x[r * 1024 + i];
    int at = i;
    for (int k = 0; k < 8; ++k)
      if (p[k] < 0 || own > v[k] || (own == v[k] && at < p[k])) {
        const float sv = v[k];
        const int sp = p[k];
        v[k] = own, p[k] = at;
        own = sv, at = sp;
        if (at < 0) break;
      }
  }
  for (int k = 0; k < 8; ++k) value[r * 8 + k] = v[k], place[r * 8 + k] = p[k];
}
