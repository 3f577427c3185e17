/// Guard zones: a pattern (engine/portable/guard.h) of the seed and the offset from the last
/// multiple of 8 bytes at or before the zone, so that zones may begin and end anywhere.

namespace warpath::cuda {

/// Calls visit(index, address, first byte, byte behind the last) for the aligned 8-byte words that
/// the zone touches.
template <class Visit>
inline void for_each_guard_word(const void* zone, Word size_bytes, Visit visit) {
  const Word begin = reinterpret_cast<Word>(zone), end = begin + size_bytes;
  for (Word index = thread_index();; index += thread_count()) {
    const Word at = begin / 8 * 8 + 8 * index;
    if (at >= end) return;
    const unsigned first = at < begin ? static_cast<unsigned>(begin - at) : 0;
    const unsigned last = at + 8 > end ? static_cast<unsigned>(end - at) : 8;
    visit(index, at, first, last);
  }
}

inline void merge(DeviceGuard& into, const DeviceGuard& other) {
  into.changed += other.changed;
  if (other.first_offset < into.first_offset) into.first_offset = other.first_offset;
}

}  // namespace warpath::cuda

extern "C" __global__ void __launch_bounds__(256)
    harness_guard_fill(void* zone, unsigned long long size_bytes, unsigned long long seed) {
  using namespace warpath::cuda;
  for_each_guard_word(zone, size_bytes, [seed](Word index, Word at, unsigned first, unsigned last) {
    const Word pattern = warpath::portable::guard_word(seed, index);
    if (last - first == 8) {
      *reinterpret_cast<Word*>(at) = pattern;
      return;
    }
    auto* const bytes = reinterpret_cast<unsigned char*>(at);
    for (unsigned k = first; k < last; ++k) {
      bytes[k] = static_cast<unsigned char>(pattern >> (8 * k));
    }
  });
}

extern "C" __global__ void __launch_bounds__(256)
    harness_guard_check(const void* zone,
                        unsigned long long size_bytes,
                        unsigned long long seed,
                        warpath::cuda::DeviceGuard* parts) {
  using namespace warpath::cuda;
  DeviceGuard found{0, 0, 0, kNone};
  const Word begin = reinterpret_cast<Word>(zone);
  for_each_guard_word(zone, size_bytes, [&](Word index, Word at, unsigned first, unsigned last) {
    const Word pattern = warpath::portable::guard_word(seed, index);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(at);
    if (last - first == 8 && *reinterpret_cast<const Word*>(at) == pattern) return;
    for (unsigned k = first; k < last; ++k) {
      if (bytes[k] == static_cast<unsigned char>(pattern >> (8 * k))) continue;
      merge(found, DeviceGuard{0, 0, 1, at + k - begin});
    }
  });
  found = reduce_block(found);
  if (threadIdx.x == 0) parts[blockIdx.x] = found;
}

extern "C" __global__ void __launch_bounds__(256)
    harness_guard_finish(const warpath::cuda::DeviceGuard* parts,
                         unsigned count,
                         unsigned long long size_bytes,
                         unsigned long long nonce,
                         warpath::cuda::DeviceGuard* result) {
  using namespace warpath::cuda;
  DeviceGuard found = reduce_parts(parts, count, DeviceGuard{0, 0, 0, kNone});
  if (threadIdx.x != 0) return;
  found.nonce = nonce;
  found.size_bytes = size_bytes;
  *result = found;
}
