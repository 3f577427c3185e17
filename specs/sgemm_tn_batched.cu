// C_b = A_b^T B_b for every b = blockIdx.z. A_b: [K, M], B_b: [K, N], C_b: [M, N], all row-major.
// One thread an output.
extern "C" __global__ void sgemm_tn_batched(int M, int N, int K, float* A, float* B, float* C) {
  int m = blockIdx.x * blockDim.x + threadIdx.x;
  int n = blockIdx.y * blockDim.y + threadIdx.y;
  int b = blockIdx.z;
  if (m < M && n < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) {
      sum += A[(b * K + k) * M + m] * B[(b * K + k) * N + n];
    }
    C[(b * M + m) * N + n] = sum;
  }
}
