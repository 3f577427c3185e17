// Kernels that find out what a GPU can do at most. Every one runs `iterations` rounds of the same
// work, so that a launch can be made long enough to be timed, and stores what it computed, so that
// nothing is optimised away. Operand bits are random: power, and with it the clock, depends on
// them. Needs no include.

using u32 = unsigned;
using u64 = unsigned long long;

namespace {

// independent accumulators: covers the latency of every pipe together with the other warps
constexpr int kChains = 8;

__device__ u32 mix(u32 x) {  // Murmur3 finaliser
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  return x ^ x >> 16;
}

__device__ u32 thread_index() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

/// 0.5 to 1 or its negative: random sign and mantissa.
__device__ u32 random_bf16x2(u32 seed) {
  return (mix(seed) & 0x807f807fu) | 0x3f003f00u;
}
__device__ u32 random_f16x2(u32 seed) {
  return (mix(seed) & 0x83ff83ffu) | 0x38003800u;
}
__device__ u32 random_tf32(u32 seed) {
  return (mix(seed) & 0x807fe000u) | 0x3f000000u;
}
__device__ double random_f64(u32 seed) {
  return __hiloint2double((mix(seed) & 0x800fffffu) | 0x3fe00000u, mix(seed + 1));
}

}  // namespace

extern "C" __global__ void peak_empty() {}

/// Copies n float4; blocks of 256 threads, 1024 elements a block.
extern "C" __global__ void __launch_bounds__(256) peak_copy(const float4* in, float4* out, u64 n) {
  const u64 first = blockIdx.x * 1024ull + threadIdx.x;
  float4 x[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) x[i] = first + i * 256 < n ? in[first + i * 256] : float4{};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (first + i * 256 < n) out[first + i * 256] = x[i];
  }
}

/// Reads n float4 once; blocks of 256 threads, 2048 elements a block.
extern "C" __global__ void __launch_bounds__(256) peak_read(const float4* in, float4* out, u64 n) {
  const u64 first = blockIdx.x * 2048ull + threadIdx.x;
  float4 x[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) x[i] = first + i * 256 < n ? in[first + i * 256] : float4{};
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += x[i].x + x[i].y + x[i].z + x[i].w;
  if (sum == 1.2345e-38f) out[0] = x[0];  // never: keeps the loads
}

/// Writes n float4; blocks of 256 threads, 1024 elements a block.
extern "C" __global__ void __launch_bounds__(256) peak_write(const float4*, float4* out, u64 n) {
  const u64 first = blockIdx.x * 1024ull + threadIdx.x;
  const float x = static_cast<float>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (first + i * 256 < n) out[first + i * 256] = float4{x, x, x, x};
  }
}

/// Every thread reads 4 float4 a round past the level-1 cache; `mask` + 1 elements, a power of two,
/// small enough for level 2.
extern "C" __global__ void __launch_bounds__(256)
    peak_l2(const float4* in, float* out, u32 mask, u32 iterations) {
  u32 at = thread_index();
  float sum = 0;
  for (u32 round = 0; round < iterations; ++round) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float4 x;
      asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                   : "l"(in + (at & mask)));
      sum += x.x + x.y + x.z + x.w;
      at += gridDim.x * blockDim.x;
    }
  }
  out[thread_index()] = sum;
}

/// kChains fused multiply-adds a thread and round.
template <class T>
__device__ void fused_multiply_add(T* out, u32 iterations) {
  T x[kChains];
  for (int i = 0; i < kChains; ++i)
    x[i] = static_cast<T>(mix(thread_index() * kChains + i) & 0xffff) / 65536;
  const T a = static_cast<T>(0.999), b = static_cast<T>(mix(threadIdx.x) & 0xff) / 262144;
  for (u32 round = 0; round < iterations; ++round) {
#pragma unroll
    for (int repeat = 0; repeat < 4; ++repeat) {
#pragma unroll
      for (int i = 0; i < kChains; ++i) x[i] = x[i] * a + b;
    }
  }
  T sum = 0;
  for (int i = 0; i < kChains; ++i) sum += x[i];
  out[thread_index()] = sum;
}
extern "C" __global__ void __launch_bounds__(256) peak_fma_f32(float* out, u32 iterations) {
  fused_multiply_add(out, iterations);
}
extern "C" __global__ void __launch_bounds__(256) peak_fma_f64(double* out, u32 iterations) {
  fused_multiply_add(out, iterations);
}

/// kChains / 2 multiply-adds and as many three-way adds a thread and quarter round: both integer
/// pipes at once.
extern "C" __global__ void __launch_bounds__(256) peak_int32(u32* out, u32 iterations) {
  u32 x[kChains];
  for (int i = 0; i < kChains; ++i) x[i] = mix(thread_index() * kChains + i);
  const u32 a = mix(threadIdx.x) | 1, b = mix(threadIdx.x + 1);
  for (u32 round = 0; round < iterations; ++round) {
#pragma unroll
    for (int repeat = 0; repeat < 4; ++repeat) {
#pragma unroll
      for (int i = 0; i < kChains; i += 2) {
        asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x[i]) : "r"(a), "r"(b));
        asm volatile("{.reg .u32 t; add.u32 t, %0, %1; add.u32 %0, t, %2;}"
                     : "+r"(x[i + 1])
                     : "r"(a), "r"(b));
      }
    }
  }
  u32 sum = 0;
  for (int i = 0; i < kChains; ++i) sum ^= x[i];
  out[thread_index()] = sum;
}

/// 4 * kChains base-2 exponentials a thread and round.
extern "C" __global__ void __launch_bounds__(256) peak_ex2(float* out, u32 iterations) {
  float x[kChains];
  for (int i = 0; i < kChains; ++i)
    x[i] = static_cast<float>(mix(thread_index() * kChains + i) & 0xffff) / 65536;
  for (u32 round = 0; round < iterations; ++round) {
#pragma unroll
    for (int repeat = 0; repeat < 4; ++repeat) {
#pragma unroll
      for (int i = 0; i < kChains; ++i) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[i]));
    }
  }
  float sum = 0;
  for (int i = 0; i < kChains; ++i) sum += x[i];
  out[thread_index()] = sum;
}

#if __CUDA_ARCH__ >= 800
// Tensor cores by mma.sync: kChains products a warp and round.

namespace {

__device__ float joined(float a, float b) {
  return a + b;
}
__device__ u32 joined(u32 a, u32 b) {
  return a ^ b;
}

/// `product(d, a, b)` adds one product to the accumulators d; words of its operands are
/// `random(seed)`.
template <int kAccumulators, class T, class Random, class Product>
__device__ __forceinline__ void chains_of_products(T* out,
                                                   u32 iterations,
                                                   Random random,
                                                   Product product) {
  u32 a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = random(thread_index() * 8 + i);
  for (int i = 0; i < 2; ++i) b[i] = random(thread_index() * 8 + 4 + i);
  T d[kChains][kAccumulators] = {};
  for (u32 round = 0; round < iterations; ++round) {
#pragma unroll
    for (int i = 0; i < kChains; ++i) product(d[i], a, b);
  }
  T sum = 0;
  for (int i = 0; i < kChains; ++i) {
    for (int k = 0; k < kAccumulators; ++k) sum = joined(sum, d[i][k]);
  }
  out[thread_index()] = sum;
}

}  // namespace

#define WARPATH_FLOAT(x) "+f"(x)
#define WARPATH_INT(x) "+r"(x)
#define WARPATH_WORDS "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])
#define WARPATH_PRODUCT_4(type, c, shape)                                 \
  [](type(&d)[4], const u32(&a)[4], const u32(&b)[2]) {                   \
    asm volatile("mma.sync.aligned." shape                                \
                 " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
                 : c(d[0]), c(d[1]), c(d[2]), c(d[3])                     \
                 : WARPATH_WORDS);                                        \
  }

/// 16 x 8 x 16, accumulated in fp32.
extern "C" __global__ void __launch_bounds__(256) peak_mma_bf16(float* out, u32 iterations) {
  chains_of_products<4>(
      out, iterations, random_bf16x2,
      WARPATH_PRODUCT_4(float, WARPATH_FLOAT, "m16n8k16.row.col.f32.bf16.bf16.f32"));
}

/// 16 x 8 x 16, accumulated in fp16: twice as fast as in fp32 on some chips.
extern "C" __global__ void __launch_bounds__(256) peak_mma_f16(u32* out, u32 iterations) {
  chains_of_products<2>(
      out, iterations, random_f16x2, [](u32(&d)[2], const u32(&a)[4], const u32(&b)[2]) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, "
            "{%0,%1};"
            : "+r"(d[0]), "+r"(d[1])
            : WARPATH_WORDS);
      });
}

/// 16 x 8 x 8, accumulated in fp32.
extern "C" __global__ void __launch_bounds__(256) peak_mma_tf32(float* out, u32 iterations) {
  chains_of_products<4>(
      out, iterations, random_tf32,
      WARPATH_PRODUCT_4(float, WARPATH_FLOAT, "m16n8k8.row.col.f32.tf32.tf32.f32"));
}

/// 16 x 8 x 32, accumulated in int32.
extern "C" __global__ void __launch_bounds__(256) peak_mma_s8(u32* out, u32 iterations) {
  chains_of_products<4>(out, iterations, mix,
                        WARPATH_PRODUCT_4(u32, WARPATH_INT, "m16n8k32.row.col.s32.s8.s8.s32"));
}

/// 8 x 8 x 4, and from compute capability 9.0 on kChains / 2 times 16 x 8 x 16.
extern "C" __global__ void __launch_bounds__(256) peak_mma_f64(double* out, u32 iterations) {
#if __CUDA_ARCH__ >= 900
  double a[8], b[4], d[kChains / 2][4] = {};
  for (int i = 0; i < 8; ++i) a[i] = random_f64(thread_index() * 16 + i);
  for (int i = 0; i < 4; ++i) b[i] = random_f64(thread_index() * 16 + 8 + i);
  for (u32 round = 0; round < iterations; ++round) {
#pragma unroll
    for (int i = 0; i < kChains / 2; ++i) {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
          "{%4,%5,%6,%7,%8,%9,%10,%11}, "
          "{%12,%13,%14,%15}, {%0,%1,%2,%3};"
          : "+d"(d[i][0]), "+d"(d[i][1]), "+d"(d[i][2]), "+d"(d[i][3])
          : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
            "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
    }
  }
  double sum = 0;
  for (int i = 0; i < kChains / 2; ++i) sum += d[i][0] + d[i][1] + d[i][2] + d[i][3];
#else
  const double a = random_f64(thread_index() * 2), b = random_f64(thread_index() * 2 + 1);
  double d[kChains][2] = {};
  for (u32 round = 0; round < iterations; ++round) {
#pragma unroll
    for (int i = 0; i < kChains; ++i) {
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                   : "+d"(d[i][0]), "+d"(d[i][1])
                   : "d"(a), "d"(b));
    }
  }
  double sum = 0;
  for (int i = 0; i < kChains; ++i) sum += d[i][0] + d[i][1];
#endif
  out[thread_index()] = sum;
}

#endif

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// Tensor cores by wgmma, which alone reaches their full rate on compute capability 9.0. A block is
// one warp group. Operands come from shared memory: 64 x 32 bytes and 256 x 32 bytes, random; which
// element is where does not matter here.

#define WARPATH_ACCUMULATORS                                                               \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, " \
  "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "  \
  "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "  \
  "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, "  \
  "%70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, "  \
  "%87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, "    \
  "%103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, "   \
  "%117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"
#define WARPATH_4(c, i) c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define WARPATH_16(c, i) \
  WARPATH_4(c, i), WARPATH_4(c, i + 4), WARPATH_4(c, i + 8), WARPATH_4(c, i + 12)
#define WARPATH_64(c, i) \
  WARPATH_16(c, i), WARPATH_16(c, i + 16), WARPATH_16(c, i + 32), WARPATH_16(c, i + 48)

namespace {

constexpr int kBatch = 2;  // products submitted before waiting; other blocks fill the gap

/// Descriptor of a K-major operand without swizzle: 8 x 16-byte core matrices, 128 bytes apart
/// along K, 256 along M or N.
__device__ u64 descriptor(const void* operand) {
  const u64 address = static_cast<u32>(__cvta_generic_to_shared(operand));
  return (address & 0x3ffff) >> 4 | u64{128 >> 4} << 16 | u64{256 >> 4} << 32;
}

template <class Bits>
__device__ void fill(u32* words, int count, Bits bits) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
    words[i] = bits(blockIdx.x * count + i);
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
}

__device__ void begin_batch() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ void end_batch() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

constexpr int kWordsA = 64 * 32 / 4, kWords = kWordsA + 256 * 32 / 4;

}  // namespace

#define WARPATH_WGMMA_KERNEL(name, type, constraint, bits, instruction, scales)           \
  extern "C" __global__ void __launch_bounds__(128) name(type* out, u32 iterations) {     \
    __shared__ alignas(1024) u32 operands[kWords];                                        \
    fill(operands, kWords, [](u32 seed) { return bits(seed); });                          \
    const u64 a = descriptor(operands), b = descriptor(operands + kWordsA);               \
    type d[128] = {};                                                                     \
    for (u32 round = 0; round < iterations; ++round) {                                    \
      begin_batch();                                                                      \
      _Pragma("unroll") for (int i = 0; i < kBatch; ++i) {                                \
        asm volatile("wgmma.mma_async.sync.aligned." instruction " " WARPATH_ACCUMULATORS \
                     ", %128, %129, " scales ";"                                          \
                     : WARPATH_64(constraint, 0), WARPATH_64(constraint, 64)              \
                     : "l"(a), "l"(b));                                                   \
      }                                                                                   \
      end_batch();                                                                        \
    }                                                                                     \
    type sum = 0;                                                                         \
    for (int i = 0; i < 128; ++i) sum += d[i];                                            \
    out[thread_index()] = sum;                                                            \
  }

WARPATH_WGMMA_KERNEL(peak_wgmma_bf16,
                     float,
                     WARPATH_FLOAT,
                     random_bf16x2,
                     "m64n256k16.f32.bf16.bf16",
                     "1, 1, 1, 0, 0")
WARPATH_WGMMA_KERNEL(
    peak_wgmma_tf32, float, WARPATH_FLOAT, random_tf32, "m64n256k8.f32.tf32.tf32", "1, 1, 1")
WARPATH_WGMMA_KERNEL(peak_wgmma_s8, u32, WARPATH_INT, mix, "m64n256k32.s32.s8.s8", "1")
#endif
