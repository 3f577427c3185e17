/// A fixed amount of integer work with a known answer.

namespace warpath::cuda {

struct CanarySum {
  Word sum;
};
inline void merge(CanarySum& into, const CanarySum& other) {
  into.sum += other.sum;
}

}  // namespace warpath::cuda

extern "C" __global__ void __launch_bounds__(256)
    harness_canary(unsigned long long* out, unsigned long long seed) {
  using namespace warpath::cuda;
  Word x = warpath::portable::mix(seed + thread_index());
#pragma unroll 1
  for (unsigned step = 0; step < kCanarySteps; ++step) x = x * kCanaryFactor + kCanaryTerm;
  const CanarySum total = reduce_block(CanarySum{x});
  if (threadIdx.x == 0) out[blockIdx.x] = total.sum;
}
