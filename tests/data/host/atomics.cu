// Atomic functions on global and shared memory.
#include <cuda_fp16.h>
#include <cuda_bf16.h>

extern "C" __global__ void integer_atomics(int* x, unsigned* u) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&x[0], i);
  atomicSub(&x[1], i);
  atomicMin(&x[2], i - 100);
  atomicMax(&x[3], i - 100);
  atomicAnd(&x[4], ~(1 << (i % 8)));
  atomicOr(&x[5], 1 << (i % 20));
  atomicXor(&x[6], i);
  atomicInc(&u[0], 9u);
  atomicDec(&u[1], 9u);
  atomicMax(&u[2], (unsigned)i);
}
extern "C" __global__ void wide_atomics(unsigned long long* x, long long* y) {
  const unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&x[0], i << 32);
  atomicMax(&x[1], i << 40);
  atomicMin(&y[0], -(long long)(i << 33));
  atomicCAS(&x[2], 7ull, 1ull << 50);
}
extern "C" __global__ void floating_atomics(float* f, double* d) {
  atomicAdd(&f[threadIdx.x % 4], 0.5f);
  atomicAdd(d, 0.25);
}
extern "C" __global__ void half_atomics(__half* h, __nv_bfloat16* b, __half2* h2) {
  atomicAdd(h, __float2half(1.0f));
  atomicAdd(b, __float2bfloat16(1.0f));
  atomicAdd(h2, __floats2half2_rn(1.0f, 2.0f));
}
// atomicMax for floats made of atomicCAS, as people write it.
__device__ float atomic_max_float(float* address, float value) {
  int* as_int = (int*)address;
  int old = *as_int, assumed;
  do {
    assumed = old;
    old = atomicCAS(as_int, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (assumed != old);
  return __int_as_float(old);
}
extern "C" __global__ void float_max(const float* in, float* out) {
  atomic_max_float(out, in[blockIdx.x * blockDim.x + threadIdx.x]);
}
extern "C" __global__ void shared_histogram(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[in[i] >> 4], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
// The last block to finish sums up: the counter is an argument that the host zeroes.
extern "C" __global__ void last_block(const int* in, int* partial, int* total, unsigned* counter) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < 4; ++i) sum += in[blockIdx.x * 4 + i];
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += ((volatile int*)partial)[i];
    *total = sum;
  }
}
// A thread waits for another one of its block by spinning politely.
extern "C" __global__ void handshake(int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) __nanosleep(100);
    out[0] = 42;
  } else if (threadIdx.x == 33) {
    atomicExch(flag, 1);
  }
}
