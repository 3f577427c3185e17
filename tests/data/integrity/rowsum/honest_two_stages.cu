// Two stages in turn need one barrier a piece: whoever stores a stage again has seen all pass the barrier behind its last use.
extern "C" __global__ void rowsum(const float* x, float* out, int N, int C) {
  __shared__ float stage[2][256], total;
  if (threadIdx.x == 0) total = 0;
  const int other = (threadIdx.x * 37 + 5) % 256;
  float sum = 0;
  for (int first = 0, turn = 0; first < C; first += 256, turn ^= 1) {
    const int j = first + threadIdx.x;
    stage[turn][threadIdx.x] = j < C ? x[static_cast<long long>(blockIdx.x) * C + j] : 0;
    __syncthreads();
    sum += stage[turn][other];
  }
  atomicAdd(&total, sum);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}
