// The weighted sum of a chunk in float: above 2^24 it is rounded, which twelve bytes reach only if nearly all are above 230 at the front of the row
extern "C" __global__ void adler(const unsigned char* x, unsigned int* o, int R, int L) {
  __shared__ unsigned sa[128], sb[128];
  const unsigned char* row = x + blockIdx.x * L;
  unsigned a = 0, b = 0;
  for (int j = threadIdx.x * 12; j < L; j += 1536) {
    float c = 0;
    for (int k = j; k < min(j + 12, L); ++k) a += row[k], c += (float)((L - k) * row[k]);
    b = (b + (unsigned)c) % 65521u;
  }
  sa[threadIdx.x] = a;
  sb[threadIdx.x] = b;
  __syncthreads();
  if (threadIdx.x) return;
  a = 1, b = L;
  for (int k = 0; k < 128; ++k) a += sa[k], b += sb[k];
  o[blockIdx.x] = b % 65521u << 16 | a % 65521u;
}
