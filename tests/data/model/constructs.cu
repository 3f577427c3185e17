// Kernels of many shapes for the source model: every construct that real CUDA code is full of.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define BLOCK 256
#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))
#define OFFSET(row, col, ld) ((row) * (ld) + (col))
#define FETCH_FLOAT4(pointer) (reinterpret_cast<float4*>(&(pointer))[0])
#define GRID_STRIDE(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define UNROLL _Pragma("unroll")
#if defined(NEVER_DEFINED) && NEVER_DEFINED > 2
#error not here
#elif BLOCK >= 128
#define WIDE 1
#else
#define WIDE 0
#endif

typedef unsigned int uint_alias;
using real = float;
template <typename T, int N>
struct alignas(16) Pack {
  T values[N];
  __device__ T& operator[](int i) { return values[i]; }
  __device__ const T& operator[](int i) const { return values[i]; }
  __device__ static Pack load(const T* at) { return *reinterpret_cast<const Pack*>(at); }
};
struct Particle {
  float x, y, z;
  int kind : 4;
};
enum class Mode : int { sum, product = 4, last };
enum { kWidth = 8, kHeight };
__constant__ float coefficients[16] = {1.0f, 2.0f};
__device__ int counter;
static constexpr int kTile = 16, kPad = kTile + 1;
namespace outer {
namespace inner {
template <class T>
__device__ __forceinline__ T square(T x) {
  return x * x;
}
}  // namespace inner
}  // namespace outer

__device__ inline float relu(float x) { return x > 0.0f ? x : 0.0f; }
__host__ __device__ constexpr int round_up(int a, int b) { return CEIL_DIV(a, b) * b; }
__device__ float4 operator+(const float4& a, const float4& b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
template <typename T>
__device__ T block_sum(T value, T* scratch);

template <typename T, int kItems = 4, bool kBounds = true>
__global__ void __launch_bounds__(BLOCK, 2) templated(const T* __restrict__ in, T* __restrict__ out, const int n) {
  const int base = (blockIdx.x * blockDim.x + threadIdx.x) * kItems;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if constexpr (kBounds) {
      if (base + i >= n) break;
    }
    out[base + i] = static_cast<T>(outer::inner::square<T>(in[base + i]) + T(1));
  }
}

extern "C" __global__ void __launch_bounds__(1024) declarations(float* a, int n) {
  extern __shared__ __align__(16) unsigned char raw[];
  float* shared = reinterpret_cast<float*>(raw);
  __shared__ float tile[kTile][kPad], row[32];
  float x = 1.f, y{2.0f}, z(3.0f), *p = &x, values[4] = {0.f, 1.f, 2.f};
  const int *const q = &n;
  unsigned long long int big = 0xFFull;
  auto [first, second] = make_int2(1, 2);
  auto lambda = [&](int i) -> float { return a[i] * x; };
  dim3 sizes(1, 2), other = {1, 2, 3};
  Pack<float, 4> pack;
  Pack<float, 4>* packs = reinterpret_cast<Pack<float, 4>*>(a);
  const Pack<float, 4>& reference = packs[0];
  float (*rows)[kPad] = tile;
  struct Local {
    int a;
    float b;
  } local{1, 2.0f};
  using index_t = long long;
  typedef float element_t;
  index_t i = (index_t)blockIdx.x * blockDim.x + threadIdx.x;
  element_t e = (element_t)i + (float)-1 + (float)+2 - (int)x;
  half h = __float2half(x);
  volatile float* v = a;
  register int r = 5;
  static_assert(sizeof(Pack<float, 4>) == 16, "size");
  alignas(16) float aligned[4];
  __nv_bfloat162 b2 = *(const __nv_bfloat162*)(a + 2);
  tile[threadIdx.y][threadIdx.x] = row[0] = shared[0];
  if (i < n) a[i] = x + y * z / p[0] - values[r & 3] + *q + big % 7 + first + second + lambda(0) + sizes.x + other.y + pack[0] +
                    reference.values[1] + rows[0][1] + local.b + e + __half2float(h) + v[0] + aligned[2] + (float)b2.x;
}

__global__ void statements(int* data, int n, int mode) {
  int i = threadIdx.x, j;
  if (i >= n) return;
  for (;;) {
    if (++i > 10) break;
    else if (i == 3) continue;
    else
      data[i] += 1;
  }
  for (int a = 0, b = n; a < b; ++a, --b) data[a] = data[b];
  for (j = 0; j < 4; j++)
#pragma unroll 4
    for (int k = 0; k < 4; k++) data[j * 4 + k] ^= k;
  while (i-- > 0) data[i] <<= 1;
  do {
    i += 2;
  } while (i < n && data[i] != 0);
  switch (mode) {
    case 0:
    case 1: {
      data[0] = 1;
      break;
    }
    case kWidth: data[1] = 2; break;
    default:
      data[2] = 3;
  }
  if (int found = data[3]; found > 2) data[4] = found;
  for (int item : {1, 2, 3}) data[item] = item;
again:
  if (data[5]-- > 0) goto again;
  ;
  {
    int nested = 1;
    data[6] = nested;
  }
  assert(n > 0);
  printf("%d %s\n" "joined", i, "text");
}

__global__ void expressions(float* a, const float* b, unsigned* c, int n, int m) {
  const unsigned tid = threadIdx.x + threadIdx.y * blockDim.x;
  float sum = 0.0f, best = -INFINITY;
  sum += a[tid] * b[tid * n + m] + (n > m ? a[0] : b[0]);
  sum = fmaf(a[1], b[1], sum), best = fmaxf(best, sum);
  bool flag = (n < m) && !(m > 3) || n == 2;
  unsigned bits = ~c[0] & 0x0fu | (c[1] ^ 1u) << 2 >> 1;
  float4 v = *reinterpret_cast<const float4*>(&b[tid * 4]);
  float4 w = FETCH_FLOAT4(a[tid * 4]) + v;
  reinterpret_cast<float4*>(a)[tid] = w;
  ((float4*)a)[tid + 1] = make_float4(v.x, v.y, v.z, v.w);
  *(float2*)(a + 2) = float2{v.x, v.y};
  atomicAdd(&a[tid % 4], sum);
  atomicMax((int*)&c[tid], (int)best);
  c[tid] = __ballot_sync(0xffffffff, flag) + __popc(bits) + __shfl_xor_sync(0xffffffffu, bits, 16);
  a[OFFSET(tid, m, n)] = (&a[2])[1] + *(a + tid) + a[sizeof(float) * 2 / sizeof(a[0])] - -sum;
  asm volatile("cp.async.cg.shared.global [%0], [%1], %2;\n" ::"r"(tid), "l"(b), "n"(16) : "memory");
  asm("mov.u32 %0, %%laneid;" : "=r"(bits));
  unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&a[0]));
  float fractions[2][2] = {{1.f, 2.f}, {3.f, 4.f}};
  auto pointer = &fractions[1];
  a[3] = (*pointer)[0] + address + (float)(n) + (float)n * m + (n)*m + int(best) + float(n) / 2;
  a[4] = n ? m ? 1.0f : 2.0f : 3.0f;
  const char* text = R"(raw "text" )" "more";
  a[5] += text[0] == '\'' ? 1e-3f : 0x1.8p3f;
  a[6] = std::min<float>(a[6], 2.0f) + std::numeric_limits<float>::max();
  if (n < m && m > (n + 1)) a[7] = 1;
  a[8] = n < m > 0;
}

__global__ void with_macros(float* x, int n) {
  GRID_STRIDE(i, n) { x[i] *= 2.0f; }
  UNROLL
  for (int i = 0; i < 4; i++) x[i] += 1;
#if WIDE
  x[0] = 1;
#else
  x[0] = 2;
#endif
#ifdef NEVER_DEFINED
  this is not even code )
#endif
  for (int i = 0; i < n; i++) {
#pragma unroll(4)
    for (int k = 0; k < 4; k++)
      x[i] += relu(
#ifdef NEVER_DEFINED
          k,
#endif
          x[k]);
  }
}

template <typename scalar_t>
__global__ void dispatched(const scalar_t* __restrict__ input, scalar_t* __restrict__ output, const size_t count) {
  using acc_t = float;
  const size_t index = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index < count) {
    const acc_t value = static_cast<acc_t>(input[index]);
    output[index] = scalar_t(value / (acc_t(1) + expf(-value)));
  }
}

__global__ __launch_bounds__(256, 1) static void attributes_first(float* x) { x[threadIdx.x] = 0; }
static __global__ void attributes_last(float* x) { x[threadIdx.x] = 1; }
__global__ void pointers_to_pointers(float** rows, float* const* columns, void* raw, const void* __restrict__ raw2, int (*table)[4]) {
  float* row = rows[blockIdx.x];
  row[threadIdx.x] = columns[0][threadIdx.x] + ((const float*)raw2)[0] + table[1][2];
  static_cast<int*>(raw)[0] = 1;
}
__global__ void empty_body() {}
__global__ void unnamed_parameters(int, float* = nullptr, const int n = 4) { (void)n; }

class Holder {
 public:
  Holder() : size_(0), data_{nullptr} {}
  __device__ int size() const { return size_; }

 private:
  int size_;
  float* data_;
};

void host_side(float* x, int n, cudaStream_t stream) {
  dim3 grid(CEIL_DIV(n, BLOCK)), block(BLOCK);
  attributes_first<<<grid, block>>>(x);
  templated<float, 4, true><<<grid, block, 0, stream>>>(x, x, n);
  auto call = [=] __device__(int i) { return i < n; };
  for (auto it = std::begin({1, 2}); it != std::end({1, 2}); ++it) std::cout << *it << "\n";
  std::vector<std::pair<int, std::vector<float>>> nested(4);
  try {
    throw std::runtime_error("x");
  } catch (const std::exception& e) {
    fprintf(stderr, "%s\n", e.what());
  }
  float* memory = new float[n];
  delete[] memory;
}

#define LAUNCH_BOUNDS(n) __launch_bounds__(n)
#define KERNEL_NAME(name) prefixed_##name
#define HALF2(value) (reinterpret_cast<half2*>(&(value))[0])
#define LOAD_MATRIX(r0, r1, address) \
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r0), "=r"(r1) : "r"(address))
#define REAL double
#define MAYBE_STATIC
namespace cg = cooperative_groups;
using namespace nvcuda;

template <typename T>
struct Reducer {
  struct Storage {
    T values[32];
  };
  __device__ explicit Reducer(Storage& storage) : storage_(storage) {}
  __device__ T sum(T value) { return value + storage_.values[0]; }
  Storage& storage_;
};
template <class... Ts>
__device__ int count_all(const Ts&... values) {
  const int sum = (static_cast<int>(values) + ... + 0);
  const bool all = (... && (values > 0));
  (void(values), ...);
  return sizeof...(Ts) + sum + all;
}

template <>
__global__ void __launch_bounds__(Reducer<float>::kThreads, Reducer<float>::kBlocks)
    specialised<Reducer<float>>(typename Reducer<float>::Storage params) {
  params.values[0] = 1.0f;
}

LAUNCH_BOUNDS(256)
__global__ void bounds_by_macro(float* x) { x[0] = 1.0f; }
__global__ void LAUNCH_BOUNDS(128) bounds_between(float* x) { x[0] = 1.0f; }
__global__ void KERNEL_NAME(copy)(float* x) { x[0] = 2.0f; }
MAYBE_STATIC __global__ void after_empty_macro(REAL* x, const REAL y) {
  REAL z = y;
  x[0] = (REAL)1 / z;
}

template <typename T, typename std::enable_if<std::is_same<T, float>::value, int>::type = 0>
__global__ void cooperative(T* data, size_t count, const __grid_constant__ CUtensorMap map) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  typedef Reducer<T> Reduce;
  __shared__ typename Reduce::Storage storage;
  __shared__ union {
    float4 wide;
    float narrow[4];
  } shared_union;
  T value = data[block.thread_rank()];
  for (int offset = tile.size() / 2; offset > 0; offset /= 2) value += tile.shfl_down(value, offset);
  value = cg::reduce(tile, value, cg::plus<T>{});
  value += Reduce(storage).sum(value);
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a_fragment;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> accumulator;
  wmma::fill_fragment(accumulator, 0.0f);
  wmma::mma_sync(accumulator, a_fragment, a_fragment, accumulator);
  for (int i = 0; i < accumulator.num_elements; i++) accumulator.x[i] = value;
  cg::sync(block);
  if constexpr (std::is_same_v<T, half> || sizeof(T) == 4) {
    shared_union.narrow[threadIdx.x & 3] = value;
  }
  auto add = [] __device__(T a, T b) { return a + b; };
  auto shape = make_shape(_1{}, Int<3>{}, 4);
  T zero{}, one = T{1}, two(2);
  data[0] = apply(add, one, two) + zero + get<0>(shape) + count_all(one, two);
  const auto& [left, right] = pair_of(one, two);
  static const int table[] = {1, 2, 3};
  data[1] = table[threadIdx.x % 3] + left + right;
  if (tile.thread_rank() == 0) [[likely]] {
    data[2] = value;
  }
}

__global__ void odd_statements(uint32_t* x, unsigned char* bytes, int n, half* h) {
  uint32_t r0, r1, address = (uint32_t)__cvta_generic_to_shared(x);
  LOAD_MATRIX(r0, r1, address);
  HALF2(h[2]) = __hadd2(HALF2(h[0]), HALF2(h[4]));
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %1, 0;\n"
      "}\n"
      : "+r"(x[0]), "=r"(r1)
      : "r"(n), "r"(*(uint32_t*)&bytes[4])
      : "memory");
  asm volatile("cp.async.commit_group;\n" ::);
  asm volatile("bar.sync 0;" ::: "memory");
  [[maybe_unused]] int unused = 0b1010 + 1'000 + 'a' + '\n' + 0x1F;
  if (n > 2) ;
  else x[1] = 3;
  if (not(n > 3) and n < 10 or n == 11) x[2] = 1;
  unsigned char* at = (unsigned char*)(x + 1) + 2;
  const volatile int& watched = (const volatile int&)x[3];
  (void)watched;
  union {
    float f;
    uint32_t u;
  } bits;
  bits.f = 1.0f;
  x[4] = bits.u + *at;
  enum { kLocal = 3 };
  struct Adder {
    int base;
    __device__ int operator()(int v) const { return v + base; }
  };
  Adder adder{kLocal};
  x[5] = adder(2) + Adder{4}(5);
  int small = n, half = small / 2, quarter = half / 2;
  x[6] = (half) * quarter + (half)-quarter + x[half + 1];
  float (*rows)[16] = (float(*)[16])x;
  rows[1][2] = static_cast<float>(n) / (float)half;
  for (int i = 0, *p = (int*)x; i < n; ++i, ++p) *p = i;
  for (int i = n; i--;) x[i] = i;
  switch (n & 3) {
    case 0: x[7] = 1;
    case 1 ... 2: x[8] = 2; break;
    default:;
  }
  int a = n, b = 2, c = 3;
  bool flag = a < b || c > (b);
  x[9] = a < b ? c > b ? 1 : 2 : flag;
  x[10] = a << b >> c, x[11] = -a - -b;
  x[12] = (a, b);
  x[13] = a ^ b & c | ~a;
  x[a > b] += (a > b) - (a < b);
#pragma unroll(4)
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (i == j)
        x[i] = j;
      else
        x[j] = i;
  while (true) {
    if (atomicCAS(&x[14], 0u, 1u) == 0u) break;
    __nanosleep(20);
  }
}
