/// References lie in device memory as noise: XORed with a keystream.

namespace warpath::cuda {

/// 16 bytes of the keystream, `block` counting them.
inline portable::Words4 keystream(const MaskKey& key, Word block) {
  const portable::Words4 counter{portable::low_word(block), portable::high_word(block),
                                 portable::low_word(key.high), portable::high_word(key.high)};
  return portable::philox<7>(counter, portable::low_word(key.low), portable::high_word(key.low));
}

/// Unmasks elements i to i + 3, i a multiple of 4.
inline void unmask_four(const MaskKey& key, unsigned width, Word i, Word four[4]) {
  if ((key.low | key.high) == 0) return;
  const Word group = i / 4;
  if (width == 8) {
    const portable::Words4 a = keystream(key, 2 * group), b = keystream(key, 2 * group + 1);
    four[0] ^= a.x | Word{a.y} << 32U;
    four[1] ^= a.z | Word{a.w} << 32U;
    four[2] ^= b.x | Word{b.y} << 32U;
    four[3] ^= b.z | Word{b.w} << 32U;
    return;
  }
  const portable::Words4 a = keystream(key, width == 4   ? group
                                            : width == 2 ? group / 2
                                                         : group / 4);
  if (width == 4) {
    four[0] ^= a.x, four[1] ^= a.y, four[2] ^= a.z, four[3] ^= a.w;
    return;
  }
  const Bits words[4] = {a.x, a.y, a.z, a.w};
  if (width == 2) {
    const Bits first = group % 2 == 0 ? words[0] : words[2];
    const Bits second = group % 2 == 0 ? words[1] : words[3];
    four[0] ^= first & 0xffffU, four[1] ^= first >> 16U;
    four[2] ^= second & 0xffffU, four[3] ^= second >> 16U;
    return;
  }
  const Bits at = static_cast<Bits>(group % 4);
  const Bits word = at == 0 ? words[0] : at == 1 ? words[1] : at == 2 ? words[2] : words[3];
  for (unsigned k = 0; k < 4; ++k) four[k] ^= word >> (8 * k) & 0xffU;
}

}  // namespace warpath::cuda

extern "C" __global__ void __launch_bounds__(256)
    harness_mask(void* data, unsigned long long size_bytes, warpath::cuda::MaskKey key) {
  using namespace warpath::cuda;
  for (Word block = thread_index(); 16 * block < size_bytes; block += thread_count()) {
    const warpath::portable::Words4 noise = keystream(key, block);
    if (16 * (block + 1) <= size_bytes) {
      uint4 words = static_cast<uint4*>(data)[block];
      words.x ^= noise.x, words.y ^= noise.y, words.z ^= noise.z, words.w ^= noise.w;
      static_cast<uint4*>(data)[block] = words;
      continue;
    }
    const Bits words[4] = {noise.x, noise.y, noise.z, noise.w};
    for (unsigned k = 0; 16 * block + k < size_bytes; ++k) {
      static_cast<unsigned char*>(data)[16 * block + k] ^=
          static_cast<unsigned char>(words[k / 4] >> (8 * (k % 4)));
    }
  }
}
