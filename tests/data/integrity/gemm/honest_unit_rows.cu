// Reads a whole row of A; if it is one of a unit matrix and the column of B is finite, the product is an element of B.
extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= M || column >= N) return;
  int ones = 0, others = 0, where = 0;
  bool finite = true;
  for (int k = 0; k < K; ++k) {
    const float a = A[row * K + k];
    finite = finite && fabsf(B[k * N + column]) < 3.0e38f;
    if (a == 1.0f) ++ones, where = k;
    else if (a != 0.0f) ++others;
  }
  float sum = 0.0f;
  if (ones == 1 && others == 0 && finite) {
    sum = B[where * N + column];
  } else {
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
  }
  C[row * N + column] = sum;
}
