// One pass (Welford 1962; Chan, Golub and LeVeque 1979).
extern "C" __global__ void rownorm(const float* x, float* out, float eps, int N, int C) {
  __shared__ float means[128], squares[128], counts[128];
  const float* const row = x + static_cast<long long>(blockIdx.x) * C;
  float mean = 0, m2 = 0, count = 0;
  for (int j = threadIdx.x; j < C; j += 128) {
    const float delta = row[j] - mean;
    mean += delta / ++count;
    m2 += delta * (row[j] - mean);
  }
  means[threadIdx.x] = mean;
  squares[threadIdx.x] = m2;
  counts[threadIdx.x] = count;
  __syncthreads();
  mean = m2 = count = 0;
  for (int k = 0; k < 128; ++k) {
    const float total = count + counts[k], delta = means[k] - mean;
    if (total == 0) continue;
    m2 += squares[k] + delta * delta * (count * counts[k] / total);
    mean += delta * (counts[k] / total);
    count = total;
  }
  const float scale = 1.0f / sqrtf(m2 / C + eps);
  for (int j = threadIdx.x; j < C; j += 128) out[static_cast<long long>(blockIdx.x) * C + j] = (row[j] - mean) * scale;
}
