/// Kernels that watch the clock; they run on a device only.

namespace warpath::cuda {

/// Nanoseconds; all multiprocessors agree.
inline Word now_ns() {
  Word time = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

}  // namespace warpath::cuda

extern "C" __global__ void harness_spin(const volatile unsigned* flag,
                                        unsigned value,
                                        unsigned long long limit_ns) {
  using namespace warpath::cuda;
  const Word start = now_ns();
  while (*flag != value && now_ns() - start < limit_ns) __nanosleep(200);
}

/// Blocks of random length, at most `most_ns`: the order in which multiprocessors become free is
/// drawn anew.
extern "C" __global__ void harness_stir(unsigned long long seed, unsigned long long most_ns) {
  using namespace warpath::cuda;
  const Word start = now_ns(), ns = warpath::portable::mix(seed + blockIdx.x) % most_ns;
  while (now_ns() - start < ns) continue;
}

extern "C" __global__ void __launch_bounds__(256) harness_noise(void* scratch,
                                                                unsigned long long size_bytes,
                                                                const volatile unsigned* flag,
                                                                unsigned value,
                                                                unsigned long long limit_ns) {
  using namespace warpath::cuda;
  __shared__ float tile[256];
  const Word start = now_ns(), chunks = size_bytes / 16;
  if (chunks == 0) return;
  Word at = warpath::portable::mix(thread_index()) % chunks;
  float x = static_cast<float>(threadIdx.x);
  while (*flag != value && now_ns() - start < limit_ns) {
    for (unsigned step = 0; step < 32; ++step) {
      tile[threadIdx.x] = x;
      for (unsigned k = 0; k < 16; ++k) x = __fmaf_rn(x, 0.5F, tile[(threadIdx.x + k) % 256]);
      uint4 words = static_cast<uint4*>(scratch)[at];
      words.x += step;
      words.y ^= __float_as_uint(x);
      static_cast<uint4*>(scratch)[at] = words;
      at = (at + thread_count() + (words.x & 1U)) % chunks;
    }
  }
}
