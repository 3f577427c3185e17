/// Judges an output against its masked reference. Each block leaves one record, the second kernel
/// merges them: no atomics, so equal buffers give equal records.

namespace warpath::cuda {

inline DeviceComparison no_comparison() {
  DeviceComparison record;
  record.nonce = record.elements = record.bad_elements = record.finite = 0;
  record.first_bad = record.worst_index = kNone;
  record.worst_ratio = record.worst_output = record.worst_reference = record.max_abs_error = 0;
  record.error = record.reference = portable::SquareSum{0, 0, 0};
  return record;
}

inline void merge(DeviceComparison& into, const DeviceComparison& other) {
  into.elements += other.elements;
  into.bad_elements += other.bad_elements;
  into.finite += other.finite;
  if (other.first_bad < into.first_bad) into.first_bad = other.first_bad;
  const bool tie = other.worst_ratio == into.worst_ratio && other.worst_index < into.worst_index;
  if (other.worst_ratio > into.worst_ratio || tie) {
    into.worst_ratio = other.worst_ratio;
    into.worst_index = other.worst_index;
  }
  if (other.max_abs_error > into.max_abs_error) into.max_abs_error = other.max_abs_error;
  portable::add(into.error, other.error);
  portable::add(into.reference, other.reference);
}

/// The reference's element as the output's type where `exact`, otherwise as it is.
inline Word wanted_bits(const CompareRule& rule, Word reference) {
  if (!rule.exact || rule.output == rule.reference) return reference;
  return portable::element_of(rule.output, portable::value_of(rule.reference, reference));
}

inline void judge(
    DeviceComparison& record, const CompareRule& rule, Word i, Word output, Word reference) {
  const Word wanted = wanted_bits(rule, reference);
  const double out = portable::value_of(rule.output, output);
  const double ref = portable::value_of(rule.exact ? rule.output : rule.reference, wanted);
  const double ratio = portable::element_ratio(out, ref, output == wanted, rule.exact, rule.atol,
                                               rule.rtol, rule.infinities);
  ++record.elements;
  if (ratio > 1) {
    ++record.bad_elements;
    if (i < record.first_bad) record.first_bad = i;
  }
  const bool first = record.worst_index == kNone && !rule.exact;
  if (ratio > record.worst_ratio || first) {
    record.worst_ratio = ratio;
    record.worst_index = i;
  }
  const double error = fabs(out - ref);
  if (error > record.max_abs_error && portable::is_finite(error)) record.max_abs_error = error;
  if (!portable::is_finite(out) || !portable::is_finite(ref)) return;
  ++record.finite;
  portable::add_difference(record.error, out, ref);
  portable::add_square(record.reference, ref);
}

/// This thread's share. Inlined, so that where the types are known no code asks for them.
__forceinline__ DeviceComparison judge_share(const void* output,
                                             const void* reference,
                                             const CompareRule& rule) {
  const unsigned out_width = portable::width_of(rule.output);
  const unsigned ref_width = portable::width_of(rule.reference);
  const bool out_aligned = is_aligned(output, out_width);
  const bool ref_aligned = is_aligned(reference, ref_width);
  DeviceComparison record = no_comparison();
  for (Word i = 4 * thread_index(); i < rule.elements; i += 4 * thread_count()) {
    Word out[4], ref[4];
    load_four(output, out_width, i, rule.elements, out_aligned, out);
    load_four(reference, ref_width, i, rule.elements, ref_aligned, ref);
    unmask_four(rule.key, ref_width, i, ref);
    const unsigned count = rule.elements - i < 4 ? static_cast<unsigned>(rule.elements - i) : 4;
#pragma unroll 1
    for (unsigned k = 0; k < count; ++k) {
      judge(record, rule, i + k, out[0], ref[0]);
      push(out, 0);
      push(ref, 0);
    }
  }
  return record;
}

inline Word load_masked(const void* data, const MaskKey& key, unsigned width, Word i) {
  Word four[4] = {0, 0, 0, 0};
  unmask_four(key, width, i / 4 * 4, four);
  return four[i % 4] ^ load_one(data, width, i);
}

}  // namespace warpath::cuda

extern "C" __global__ void __launch_bounds__(256, 3)
    harness_compare(const void* output,
                    const void* reference,
                    warpath::cuda::CompareRule rule,
                    warpath::cuda::DeviceComparison* parts) {
  using namespace warpath::cuda;
  using warpath::DType;
  const bool common = rule.output == DType::f32 && !rule.exact;
  DeviceComparison record;
  if (common && rule.reference == DType::f32) {
    rule.output = rule.reference = DType::f32;
    rule.exact = false;
    record = judge_share(output, reference, rule);
  } else if (common && rule.reference == DType::f64) {
    rule.output = DType::f32;
    rule.reference = DType::f64;
    rule.exact = false;
    record = judge_share(output, reference, rule);
  } else {
    record = judge_share(output, reference, rule);
  }
  record = reduce_block(record);
  if (threadIdx.x == 0) parts[blockIdx.x] = record;
}

extern "C" __global__ void __launch_bounds__(256)
    harness_compare_finish(const void* output,
                           const void* reference,
                           warpath::cuda::CompareRule rule,
                           const warpath::cuda::DeviceComparison* parts,
                           unsigned count,
                           warpath::cuda::DeviceComparison* result) {
  using namespace warpath::cuda;
  namespace portable = warpath::portable;
  DeviceComparison record = reduce_parts(parts, count, no_comparison());
  if (threadIdx.x != 0) return;
  record.nonce = rule.nonce;
  if (record.worst_index != kNone) {
    const Word at = record.worst_index;
    const Word out = load_one(output, portable::width_of(rule.output), at);
    const Word ref = load_masked(reference, rule.key, portable::width_of(rule.reference), at);
    record.worst_output = portable::value_of(rule.output, out);
    record.worst_reference =
        portable::value_of(rule.exact ? rule.output : rule.reference, wanted_bits(rule, ref));
  }
  *result = record;
}
