/// What a launch leaves behind: contents of the L2 cache, of shared and of local memory.

namespace warpath::cuda {

/// A word whose halves, itself and any pair of which are NaNs in every floating type.
inline Bits residue_word(Bits seed, Word i) {
  return 0x7ff87ff8U | (static_cast<Bits>(portable::mix(seed + i)) & 0x80078007U);
}

constexpr unsigned kLocalWords = 128;  ///< of local memory a thread

}  // namespace warpath::cuda

extern "C" __global__ void __launch_bounds__(256)
    harness_flush(void* scratch, unsigned long long size_bytes, unsigned value) {
  using namespace warpath::cuda;
  for (Word i = thread_index(); 16 * (i + 1) <= size_bytes; i += thread_count()) {
    const Bits word = value ^ static_cast<Bits>(i);
    static_cast<uint4*>(scratch)[i] = make_uint4(word, word, word, word);
  }
}

extern "C" __global__ void __launch_bounds__(1024)
    harness_poison_shared(unsigned size_bytes, unsigned seed) {
  using namespace warpath::cuda;
  extern __shared__ unsigned arena[];
  volatile unsigned* const words = arena;  // nobody here reads them
  for (unsigned i = threadIdx.x; 4 * (i + 1) <= size_bytes; i += blockDim.x) {
    words[i] = residue_word(seed, i);
  }
}

extern "C" __global__ void __launch_bounds__(256) harness_poison_local(unsigned seed) {
  using namespace warpath::cuda;
  volatile unsigned words[kLocalWords];
#pragma unroll 1
  for (unsigned i = 0; i < kLocalWords; ++i) {
    words[(i + seed) % kLocalWords] = residue_word(seed, i);
  }
}
