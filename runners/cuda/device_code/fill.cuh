/// Values: fill rules, input families, poison.

namespace warpath::cuda {

/// A quiet NaN of a floating type with `noise` as its sign and payload; noise for others.
inline Word poison_element(DType dtype, Word noise) {
  switch (dtype) {
    case DType::f64:
      return noise | 0x7ff8000000000000ULL;
    case DType::f32:
      return noise | 0x7fc00000U;
    case DType::f16:
      return noise | 0x7e00U;
    case DType::bf16:
      return noise | 0x7fc0U;
    default:
      return noise;
  }
}

}  // namespace warpath::cuda

extern "C" __global__ void __launch_bounds__(256)
    harness_fill(void* out, unsigned long long elements, warpath::ElementRule rule) {
  using namespace warpath::cuda;
  const unsigned width = warpath::portable::width_of(rule.dtype);
  const bool aligned = is_aligned(out, width);
  for (Word i = 4 * thread_index(); i < elements; i += 4 * thread_count()) {
    Word four[4] = {0, 0, 0, 0};
#pragma unroll 1
    for (unsigned k = 0; k < 4; ++k) push(four, warpath::portable::element(rule, i + k));
    store_four(out, width, i, elements, aligned, four);
  }
}

extern "C" __global__ void __launch_bounds__(256)
    harness_family(void* data, warpath::FamilyRule rule) {
  using namespace warpath::cuda;
  namespace portable = warpath::portable;
  const unsigned width = portable::width_of(rule.dtype);
  for (Word i = thread_index(); i < rule.elements; i += thread_count()) {
    // What others read stays as it is, so that they may read it at any time.
    const Word source = portable::family_source(rule, i);
    if (portable::is_wide_integer(rule)) {
      const Word word = load_one(data, width, i),
                 of_source = source == i ? word : load_one(data, width, source);
      store_one(data, width, i, portable::family_word(rule, i, word, of_source));
      continue;
    }
    const double own = portable::value_of(rule.dtype, load_one(data, width, i));
    const double other =
        source == i ? own : portable::value_of(rule.dtype, load_one(data, width, source));
    const double value = portable::family_value(rule, i, own, other);
    store_one(data, width, i, portable::element_of(rule.dtype, value));
  }
}

extern "C" __global__ void __launch_bounds__(256) harness_nudge(void* data,
                                                                unsigned long long elements,
                                                                warpath::DType dtype,
                                                                unsigned long long seed) {
  using namespace warpath::cuda;
  namespace portable = warpath::portable;
  const unsigned width = portable::width_of(dtype);
  for (Word i = thread_index(); i < elements; i += thread_count()) {
    const double own = portable::value_of(dtype, load_one(data, width, i));
    store_one(data, width, i, portable::element_of(dtype, portable::nudged(dtype, seed, i, own)));
  }
}

extern "C" __global__ void __launch_bounds__(256) harness_poison(void* out,
                                                                 unsigned long long elements,
                                                                 warpath::DType dtype,
                                                                 unsigned long long seed) {
  using namespace warpath::cuda;
  const unsigned width = warpath::portable::width_of(dtype);
  const bool aligned = is_aligned(out, width);
  const Word key = warpath::portable::mix(seed / 2);
  for (Word i = 4 * thread_index(); i < elements; i += 4 * thread_count()) {
    Word four[4] = {0, 0, 0, 0};
#pragma unroll 1
    for (unsigned k = 0; k < 4; ++k) {
      const Word noise = warpath::portable::mix(key + i + k) * 2 + seed % 2;
      push(four, poison_element(dtype, noise));
    }
    store_four(out, width, i, elements, aligned, four);
  }
}
