/// Fingerprints: a sum of keyed products (as in NH of UMAC, Black et al. 1999) over 16-byte chunks,
/// so that the order in which blocks run does not matter.

namespace warpath::cuda {

inline void merge(DeviceDigest& into, const DeviceDigest& other) {
  into.low += other.low;
  into.high += other.high;
}

/// Both halves of a * b, folded.
inline Word folded_product(Word a, Word b) {
  return a * b ^ __umul64hi(a, b);
}

inline void add_chunk(DeviceDigest& sum, Word key, Word chunk, Word first, Word second) {
  const Word low_key = key + chunk * 0x9e3779b97f4a7c15ULL;
  const Word high_key = (key ^ 0xd1b54a32d192ed03ULL) + chunk * 0xbf58476d1ce4e5b9ULL;
  sum.low += folded_product(first + low_key, second ^ high_key);
  sum.high += folded_product(second + low_key, first ^ ~high_key);
}

}  // namespace warpath::cuda

extern "C" __global__ void __launch_bounds__(256)
    harness_digest(const void* data,
                   unsigned long long size_bytes,
                   unsigned long long seed,
                   warpath::cuda::DeviceDigest* parts) {
  using namespace warpath::cuda;
  const Word key = warpath::portable::mix(seed);
  const bool aligned = is_aligned(data, 8);
  DeviceDigest sum{0, 0, 0, 0};
  for (Word chunk = thread_index(); 16 * chunk < size_bytes; chunk += thread_count()) {
    Word words[2] = {0, 0};
    if (aligned && 16 * (chunk + 1) <= size_bytes) {
      const ulonglong2 both = static_cast<const ulonglong2*>(data)[chunk];
      words[0] = both.x, words[1] = both.y;
    } else {
      for (unsigned k = 0; k < 16 && 16 * chunk + k < size_bytes; ++k) {
        words[k / 8] |= load_one(data, 1, 16 * chunk + k) << (8 * (k % 8));
      }
    }
    add_chunk(sum, key, chunk, words[0], words[1]);
  }
  sum = reduce_block(sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(256)
    harness_digest_finish(const warpath::cuda::DeviceDigest* parts,
                          unsigned count,
                          unsigned long long size_bytes,
                          unsigned long long nonce,
                          warpath::cuda::DeviceDigest* result) {
  using namespace warpath::cuda;
  DeviceDigest sum = reduce_parts(parts, count, DeviceDigest{0, 0, 0, 0});
  if (threadIdx.x != 0) return;
  const Word low = warpath::portable::mix(sum.low ^ warpath::portable::mix(size_bytes));
  const Word high = warpath::portable::mix(sum.high ^ low);
  *result = DeviceDigest{nonce, size_bytes, low, high};
}
